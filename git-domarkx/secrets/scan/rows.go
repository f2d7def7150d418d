package scan

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A limit restricts a quick scan. The scan omits originals and the bytes of authors, which repeat
// the messages, and ends after a number of bytes. A nil limit restricts nothing.
type limit struct {
	left  atomic.Int64
	short atomic.Bool // content was omitted because of its size
}

func (l *limit) skips(c snapshot.StoredCommit, f snapshot.StoredFile) bool {
	return l != nil && !c.Workspace && (strings.HasPrefix(f.Path, "source/") || messageOf(f.Path) >= 0 && strings.HasSuffix(f.Path, ".md"))
}

// minRest is the number of remaining bytes below which the scan ends.
const minRest = 64 << 10

// over reports whether fewer than minRest bytes remain, so that no file needs to be opened to get
// its size.
func (l *limit) over() bool {
	if l == nil || l.left.Load() >= minRest {
		return false
	}
	l.short.Store(true)
	return true
}

// take reports whether size bytes remain, and subtracts them.
func (l *limit) take(size int64) bool {
	if l == nil {
		return true
	}
	if size > l.left.Load() {
		l.short.Store(true)
		return false
	}
	l.left.Add(-size)
	return true
}

// rows returns the secrets in the commits that tips reach and known does not.
func (m *Manager) rows(ctx context.Context, tips, known []string, quick *limit, progress func(done, total int)) ([]row, error) {
	var commits []work
	files, seen := 0, map[string]bool{}
	err := m.store.NewFiles(ctx, tips, known, func(c snapshot.StoredCommit) error {
		w := work{StoredCommit: c, keys: make([]string, len(c.Files))}
		for i, f := range c.Files {
			if key := m.keyOf(c, f); !seen[key] {
				seen[key], w.keys[i] = true, key
			}
		}
		commits = append(commits, w)
		files += len(c.Files)
		return nil
	})
	if err != nil {
		return nil, err
	}
	results, done := make([][]row, len(commits)), 0
	var reporting sync.Mutex
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range commits {
		workers.Go(func() (err error) {
			if results[i], err = m.commit(ctx, c, quick); err == nil && progress != nil {
				reporting.Lock()
				defer reporting.Unlock()
				done += len(c.Files)
				progress(done, files)
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(results...), nil
}

// A work is a commit with the keys of the contents to scan, "" for those that a newer commit has, too.
type work struct {
	snapshot.StoredCommit
	keys []string
}

// keyOf returns the key of a file's content in the cache, which differs between contents that are scanned in different
// ways.
func (m *Manager) keyOf(c snapshot.StoredCommit, f snapshot.StoredFile) string {
	switch {
	case isRecord(c, f.Path):
		return f.Blob.ID + "r"
	case c.Workspace && m.scanner.Installed(filePath(f.Path)):
		return f.Blob.ID + "i"
	}
	return f.Blob.ID
}

// commit returns the secrets in a commit: in its headers and message, the names of its files and
// directories, and the files that it adds.
func (m *Manager) commit(ctx context.Context, c work, quick *limit) ([]row, error) {
	var rows []row
	add := func(path, blob string, hits []hit) {
		for _, h := range hits {
			rows = append(rows, row{c.ID, c.Workspace, path, blob, h})
		}
	}
	hits, _ := m.cache.hits(c.ID, quick, func() ([]hit, error) {
		hits := hitsOf(m.scanner.Text(append(append(c.Headers, '\n'), description(c.Message)...)))
		for _, f := range m.scanner.Record(c.Message) { // also in the ids that the description leaves out
			if !slices.ContainsFunc(hits, func(h hit) bool { return h.Fingerprint == f.Fingerprint }) {
				hits = append(hits, hitOf(f))
			}
		}
		return hits, nil
	})
	add("", "", hits)
	named := map[string]bool{} // the files in a directory have its name in their paths
	names := func(path, blob string) {
		for _, found := range m.scanner.Text([]byte(nameOf(c.StoredCommit, path))) {
			if named[found.Fingerprint] {
				continue
			}
			named[found.Fingerprint] = true
			add(path, blob, []hit{{Rule: found.Rule, Place: "name", Masked: found.Masked, Fingerprint: found.Fingerprint}})
		}
	}
	for _, path := range c.Trees {
		names(path, "")
	}
	for i, f := range c.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		names(f.Path, f.Blob.ID)
		if c.keys[i] == "" || quick.skips(c.StoredCommit, f) {
			continue
		}
		hits, err := m.cache.hits(c.keys[i], quick, func() ([]hit, error) { return m.file(ctx, c.StoredCommit, f, quick) })
		if err != nil {
			return nil, fmt.Errorf("scan %s in commit %.12s: %w", f.Path, c.ID, err)
		}
		add(f.Path, f.Blob.ID, hits)
	}
	return rows, nil
}

// description returns the message of a commit without the ids in it.
func description(message []byte) []byte {
	lines := slices.DeleteFunc(slices.Collect(bytes.Lines(message)), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("Domarkx-Call: "))
	})
	return slices.Concat(lines...)
}

func (m *Manager) file(ctx context.Context, c snapshot.StoredCommit, f snapshot.StoredFile, quick *limit) ([]hit, error) {
	if quick.over() {
		return nil, nil
	}
	content, size, err := m.store.Open(ctx, f.Blob)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	if !quick.take(size) {
		return nil, nil
	}
	name := ""
	if c.Workspace {
		name = filePath(f.Path)
	}
	if isRecord(c, f.Path) {
		return m.record(path.Base(f.Path) == "entries", content)
	}
	message := !c.Workspace && (messageOf(f.Path) >= 0 || f.Path == "snapshot.json") && strings.HasSuffix(f.Path, ".json")
	return m.content(name, content, size, message)
}

// record returns the secrets in a file that contains only ids and the like, which is small.
func (m *Manager) record(isEntries bool, content io.Reader) ([]hit, error) {
	data, err := io.ReadAll(content)
	return hitsOf(slices.DeleteFunc(m.scanner.Record(data), func(f secrets.Finding) bool { return isEntries && isDigest(data, f.Start, f.End) })), err
}

// content returns the secrets in content. A container is read as a whole, one at a time because of the
// memory; all other content in parts.
func (m *Manager) content(name string, content io.Reader, size int64, message bool) ([]hit, error) {
	if size <= partSize {
		return scanContent(m.scanner, name, content, size, message)
	}
	buffered := bufio.NewReader(content)
	head, err := buffered.Peek(buffered.Size())
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !secrets.IsContainer(head) {
		return scanContent(m.scanner, name, buffered, size, message)
	}
	if size > secrets.MaxContainer {
		sum := sha256.New()
		if _, err := io.Copy(sum, buffered); err != nil {
			return nil, err
		}
		return []hit{hitOf(m.scanner.Unread([sha256.Size]byte(sum.Sum(nil))))}, nil
	}
	m.whole.Lock()
	defer m.whole.Unlock()
	data, err := io.ReadAll(buffered)
	return hitsOf(m.scanner.File(name, data)), err
}

func hitsOf(found []secrets.Finding) (hits []hit) {
	for _, f := range found {
		hits = append(hits, hitOf(f))
	}
	return hits
}

func hitOf(f secrets.Finding) hit {
	return hit{Rule: f.Rule, Inside: f.Inside, Masked: f.Masked, Key: f.Key, Fingerprint: f.Fingerprint}
}

const (
	partSize = 8 << 20   // bytes of content that are scanned at once
	overlap  = 128 << 10 // bytes that two parts have in common, for secrets of several lines
)

// scanContent returns the secrets in content. It scans large content in overlapping parts.
func scanContent(scanner *secrets.Scanner, name string, content io.Reader, size int64, message bool) ([]hit, error) {
	var hits []hit
	buffer := make([]byte, 0, min(size+1, partSize)+bytes.MinRead)
	line, last := 1, map[string]bool{}
	for {
		n, err := io.ReadFull(content, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return nil, err
		}
		data := buffer
		if !end {
			if i := bytes.LastIndexByte(data, '\n'); i > overlap {
				data = data[:i+1]
			}
		}
		seen := map[string]bool{}
		at, number := 0, line
		for _, f := range scanner.File(name, data) {
			number += bytes.Count(data[at:f.Start], []byte("\n"))
			at = f.Start
			h := hitOf(f)
			if f.Inside == "" {
				h.Line = number
			}
			key := fmt.Sprint(h.Line, h.Fingerprint)
			if seen[key] = true; last[key] {
				continue // found in both parts
			}
			if message {
				h.Place, h.Line = placeIn(data, f.Start), 0
			}
			hits = append(hits, h)
		}
		if end {
			return hits, nil
		}
		next := len(data) - overlap
		if i := bytes.IndexByte(data[next:], '\n'); i >= 0 {
			next += i + 1
		}
		line += bytes.Count(data[:next], []byte("\n"))
		buffer = buffer[:copy(buffer, buffer[next:])]
		last = seen
	}
}
