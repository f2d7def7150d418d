package scan

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/git-domarkx/engine/secrets"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A hit is a secret in a blob.
type hit struct {
	Rule        string `json:"r"`
	Place       string `json:"a,omitempty"`
	Line        int    `json:"l,omitempty"`
	Inside      string `json:"o,omitempty"`
	Masked      string `json:"m"`
	Fingerprint string `json:"f"`
}

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

// fewFiles is the maximum number of new files for which a scan does not read the cache, such as
// after a turn of a conversation.
const fewFiles = 32

// rows returns the secrets in the commits that tips reach and known does not.
func (m *Manager) rows(ctx context.Context, tips, known []string, quick *limit, progress func(done, total int)) ([]row, error) {
	var commits []snapshot.StoredCommit
	files := 0
	err := m.store.NewFiles(ctx, tips, known, func(c snapshot.StoredCommit) error {
		commits = append(commits, c)
		files += len(c.Files)
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.cache.expectNew(quick != nil && files <= fewFiles)
	results, errs := make([][]row, len(commits)), make([]error, len(commits))
	var next, done atomic.Int64
	var reporting sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(commits)); i = next.Add(1) - 1 {
				if results[i], errs[i] = m.commit(ctx, commits[i], quick); errs[i] != nil {
					next.Add(int64(len(commits))) // ends the other goroutines
				}
				if n := done.Add(int64(len(commits[i].Files))); progress != nil {
					reporting.Lock()
					progress(int(n), files)
					reporting.Unlock()
				}
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var rows []row
	for _, r := range results {
		rows = append(rows, r...)
	}
	return rows, nil
}

// commit returns the secrets in a commit: in its message, the names of its files, and the files
// that it adds.
func (m *Manager) commit(ctx context.Context, c snapshot.StoredCommit, quick *limit) ([]row, error) {
	var rows []row
	add := func(path, blob string, hits []hit) {
		for _, h := range hits {
			rows = append(rows, row{Commit: c.ID, Workspace: c.Workspace, Path: path, Blob: blob, Rule: h.Rule, Place: h.Place, Line: h.Line, Inside: h.Inside, Masked: h.Masked, Fingerprint: h.Fingerprint})
		}
	}
	hits, ok := m.cache.get(c.ID)
	if !ok {
		for _, f := range m.scanner.Text(append([]byte(c.People+"\n"), description(c.Message)...)) {
			hits = append(hits, hit{Rule: f.Rule, Masked: f.Masked, Fingerprint: f.Fingerprint})
		}
		m.cache.put(c.ID, hits)
	}
	add("", "", hits)
	for _, f := range c.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.Workspace {
			for _, found := range m.scanner.Text([]byte(filePath(f.Path))) {
				add(f.Path, f.Blob.ID, []hit{{Rule: found.Rule, Place: "name", Masked: found.Masked, Fingerprint: found.Fingerprint}})
			}
		}
		if skipped(c, f.Path) || quick.skips(c, f) {
			continue
		}
		hits, err := m.file(ctx, c, f, quick)
		if err != nil {
			return nil, fmt.Errorf("scan %s in commit %.12s: %w", f.Path, c.ID, err)
		}
		add(f.Path, f.Blob.ID, hits)
	}
	return rows, nil
}

// description returns the message of a commit without the ids in it.
func description(message []byte) []byte {
	var kept [][]byte
	for line := range bytes.Lines(message) {
		if !bytes.HasPrefix(line, []byte("Domarkx-Call: ")) {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, nil)
}

// file returns the secrets in a file, from the cache if it was scanned before.
func (m *Manager) file(ctx context.Context, c snapshot.StoredCommit, f snapshot.StoredFile, quick *limit) ([]hit, error) {
	key := f.Blob.ID
	name := ""
	if c.Workspace {
		if name = filePath(f.Path); m.scanner.Installed(name) {
			key += "i"
		}
	}
	if hits, ok := m.cache.get(key); ok {
		return hits, nil
	}
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
	message := !c.Workspace && (messageOf(f.Path) >= 0 || f.Path == "snapshot.json") && strings.HasSuffix(f.Path, ".json")
	hits, err := m.content(name, content, size, message)
	if err == nil {
		m.cache.put(key, hits)
	}
	return hits, err
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
	if err != nil {
		return nil, err
	}
	var hits []hit
	for _, f := range m.scanner.File(name, data) {
		hits = append(hits, hitOf(f))
	}
	return hits, nil
}

func hitOf(f secrets.Finding) hit {
	return hit{Rule: f.Rule, Inside: f.Inside, Masked: f.Masked, Fingerprint: f.Fingerprint}
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
