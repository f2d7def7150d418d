package dockersandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
)

// A baseline lists a container's files before anything ran in it.
type baseline struct {
	Entries []agent.Entry // in depth-first order
	at      map[string]int
	Sums    map[string][sha256.Size]byte // SHA-256 of contents, by path, where it was needed
}

func newBaseline(entries []agent.Entry) *baseline {
	b := &baseline{Entries: entries}
	b.index()
	return b
}

// index makes the maps.
func (b *baseline) index() {
	b.at = make(map[string]int, len(b.Entries))
	for i := range b.Entries {
		b.at[b.Entries[i].Path] = i
	}
	if b.Sums == nil {
		b.Sums = map[string][sha256.Size]byte{}
	}
}

func (b *baseline) entry(path string) *agent.Entry {
	if i, ok := b.at[path]; ok {
		return &b.Entries[i]
	}
	return nil
}

// sameAttributes reports whether two files are equal except for their contents.
func sameAttributes(a, b *agent.Entry) bool {
	return a.Type == b.Type && a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Size == b.Size &&
		a.Major == b.Major && a.Minor == b.Minor && a.Target == b.Target &&
		slices.EqualFunc(a.Xattrs, b.Xattrs, func(x, y domarkx.Xattr) bool {
			return x.Name == y.Name && bytes.Equal(x.Value, y.Value)
		})
}

// untouched reports whether a file did not change at all: only a change sets ctime (inode(7)).
func untouched(a, b *agent.Entry) bool { return a.Ino == b.Ino && a.CTime == b.CTime && a.CTime != 0 }

// rewritten returns the indexes of files that were written to and may still have the same
// content as before, so that contents must be compared.
func (b *baseline) rewritten(now []agent.Entry) []int {
	var list []int
	for i := range now {
		e := &now[i]
		if e.Type != domarkx.Regular {
			continue
		}
		if was := b.entry(e.Path); was != nil && sameAttributes(e, was) && !untouched(e, was) {
			list = append(list, i)
		}
	}
	return list
}

// A difference is the content of a version.
type difference struct {
	// Items are the files that differ from the image, in depth-first order, with their parent directories. An ID is that
	// in the version store, "" if the content is not stored yet; a hard link is the path of an earlier item.
	Items   []agent.Entry
	Deleted []string // topmost deleted paths, in depth-first order
	sockets []string // not stored
}

// compare returns the difference between the files now and the baseline. same contains the
// rewritten files whose content turned out to be equal. The result depends only on the files,
// not on their history: either all hard links to a file differ, or none.
func (b *baseline) compare(now []agent.Entry, same map[string]bool) difference {
	var d difference
	equal := make([]bool, len(now))
	present := make(map[string]*agent.Entry, len(now))
	for i := range now {
		e := &now[i]
		if e.Type == agent.Socket {
			d.sockets = append(d.sockets, e.Path)
			continue
		}
		present[e.Path] = e
		if was := b.entry(e.Path); was != nil && sameAttributes(e, was) {
			equal[i] = e.Type != domarkx.Regular || untouched(e, was) || same[e.Path]
		}
	}
	file := firstNames(now)
	b.settleLinks(now, file, equal)

	needed := map[string]bool{}
	for i := range now {
		if e := &now[i]; !equal[i] && e.Type != agent.Socket {
			for at := e.Path; !needed[at]; at = parentOf(at) {
				needed[at] = true
				if at == "" {
					break
				}
			}
		}
	}
	for i := range now {
		e := &now[i]
		if !needed[e.Path] || e.Type == agent.Socket {
			continue
		}
		it := *e
		if file[i] != i {
			it.HardLink = now[file[i]].Path
		}
		d.Items = append(d.Items, it)
	}
	for i := range b.Entries {
		was := &b.Entries[i]
		if present[was.Path] != nil || was.Path == "" {
			continue
		}
		if parent := present[parentOf(was.Path)]; parent != nil && parent.Type == domarkx.Directory {
			d.Deleted = append(d.Deleted, was.Path)
		}
	}
	return d
}

// settleLinks marks files as different if the set of hard links to them is not the one in the image. file is that of firstNames.
func (b *baseline) settleLinks(now []agent.Entry, file []int, equal []bool) {
	names := firstNames(b.Entries)
	before := func(i int) int { return names[b.at[now[i].Path]] } // the file in the image that has the path
	for i, first := range file {
		equal[first] = equal[first] && equal[i] && before(first) == before(i)
	}
	taken := map[int]bool{} // files in the image that one in now represents
	for i, first := range file {
		if first == i && equal[i] {
			equal[i] = !taken[before(i)]
			taken[before(i)] = true
		}
		equal[i] = equal[first]
	}
}

// firstNames returns for each entry the index of the first one that is a hard link to the same file.
func firstNames(entries []agent.Entry) []int {
	type file struct{ dev, ino uint64 }
	known := map[file]int{}
	first := make([]int, len(entries))
	for i := range entries {
		first[i] = i
		e := &entries[i]
		if e.Nlink < 2 || e.Type == domarkx.Directory || e.Type == agent.Socket {
			continue
		}
		if at, ok := known[file{e.Dev, e.Ino}]; ok {
			first[i] = at
		} else {
			known[file{e.Dev, e.Ino}] = i
		}
	}
	return first
}

func parentOf(p string) string {
	dir, _ := path.Split(p)
	return strings.TrimSuffix(dir, "/")
}

// compareContents compares the content of rewritten files with the image's. It reads the image's
// content from a temporary container, since this container no longer has it, and caches the hashes.
func (r *resource) compareContents(ctx context.Context, now []agent.Entry) (map[string]bool, error) {
	rewritten := r.base.rewritten(now)
	if len(rewritten) == 0 {
		return nil, nil
	}
	var paths, unknown []string
	for _, i := range rewritten {
		paths = append(paths, now[i].Path)
		if _, ok := r.base.Sums[now[i].Path]; !ok {
			unknown = append(unknown, now[i].Path)
		}
	}
	if len(unknown) > 0 {
		sums, err := r.sumImage(ctx, unknown)
		if err != nil {
			return nil, fmt.Errorf("read files of image %q: %w", r.state.Image, err)
		}
		for i, path := range unknown {
			r.base.Sums[path] = sums[i]
		}
		if err := writeRecord(baseFile(r.env.Dir, r.state.Container), r.base); err != nil {
			return nil, err
		}
	}
	sums, err := hash(ctx, r.session, paths)
	if err != nil {
		return nil, fmt.Errorf("read files of container %.12s: %w", r.state.Container, err)
	}
	same := make(map[string]bool, len(paths))
	for i, path := range paths {
		same[path] = sums[i] == r.base.Sums[path]
	}
	return same, nil
}

func hash(ctx context.Context, s *session, paths []string) (sums [][sha256.Size]byte, err error) {
	err = s.guard(ctx, func() (err error) { sums, err = s.Hash(paths); return err })
	return sums, err
}

// sumImage hashes files of the image. They exist: their attributes were read from a container of the same image.
func (r *resource) sumImage(ctx context.Context, paths []string) (sums [][sha256.Size]byte, err error) {
	id, _, err := r.create(ctx, r.image)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.engine.remove(ctx, id)) }()
	s, err := r.engine.start(ctx, id, r.image)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end(ctx)) }()
	return hash(ctx, s, paths)
}

// writeDeleted encodes paths, one per line. Paths with a quote, a backslash, a control character
// or invalid UTF-8 are quoted as Git does it with core.quotePath=false.
func writeDeleted(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		if plain(path) {
			b.WriteString(path)
		} else {
			b.WriteByte('"')
			for i := 0; i < len(path); i++ {
				switch c := path[i]; {
				case c == '"' || c == '\\':
					b.WriteByte('\\')
					b.WriteByte(c)
				case c < ' ' || c >= 0x7f:
					fmt.Fprintf(&b, "\\%03o", c)
				default:
					b.WriteByte(c)
				}
			}
			b.WriteByte('"')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func plain(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' })
}

// readDeleted decodes a list of paths that writeDeleted encoded.
func readDeleted(text string) ([]string, error) {
	var paths []string
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if strings.HasPrefix(line, `"`) {
			unquoted, err := strconv.Unquote(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not quoted correctly: %w", len(paths)+1, line, domarkx.ErrCorrupt)
			}
			line = unquoted
		}
		if !ended || !isPath(line) {
			return nil, fmt.Errorf("line %d: %q is not a valid path: %w", len(paths)+1, line, domarkx.ErrCorrupt)
		}
		paths = append(paths, line)
	}
	return paths, nil
}

func isPath(p string) bool {
	for component := range strings.SplitSeq(p, "/") {
		if component == "" || component == "." || component == ".." {
			return false
		}
	}
	return !strings.ContainsRune(p, 0)
}
