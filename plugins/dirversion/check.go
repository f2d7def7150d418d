package dirversion

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CheckLoad refuses a version that has names which the file system cannot hold: too long
// ones, or two in one folder that are the same to it. What base has is here already.
// Nothing changes. See [domarkx.LoadChecker].
func (f *Directory) CheckLoad(ctx context.Context, r domarkx.VersionReader, base, version string) error {
	top, err := r.Top(ctx, version)
	if err != nil {
		return err
	}
	before := ""
	if base != "" {
		if old, err := r.Top(ctx, base); err == nil { // else all is looked at
			before = old.ID
		}
	}
	c := nameCheck{f: f, r: r, seen: map[string]bool{}, hashes: map[uint64]bool{}, seed: maphash.MakeSeed()}
	if err := c.folder(ctx, "", before, top.ID, 0); err != nil {
		return err
	}
	f.checked = version
	return nil
}

// A nameCheck looks at the names of a version.
type nameCheck struct {
	f    *Directory
	r    domarkx.VersionReader
	seen map[string]bool // folders by their ids

	hashes map[uint64]bool // of the keys of a folder's names
	seed   maphash.Seed
	key    []byte
}

// folder looks at a folder, of which base is what was at its path, "" for nothing.
func (c *nameCheck) folder(ctx context.Context, path, base, id string, depth int) error {
	if id == base {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: it is more than %d folders deep: %w", quoted(path), maxDepth, domarkx.ErrCorrupt)
	}
	if len(c.f.exclude) == 0 { // else it depends on the path what is written
		if c.seen[id] {
			return nil
		}
		c.seen[id] = true
	}
	files, err := c.r.Folder(ctx, id)
	if err != nil {
		return fmt.Errorf("%s: %w", quoted(path), err)
	}
	old := c.before(ctx, base)
	if c.mayHaveTwins(files) {
		if err := c.twins(path, files); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := checkName(path, file.Name); err != nil {
			return err
		}
		folder, odd := file.Type == domarkx.Directory, isOdd(file.Name)
		if !folder && !odd {
			continue
		}
		at := join(path, file.Name)
		if c.f.excluded(at, folder) {
			continue
		}
		if odd {
			if err := c.name(at, file.Name); err != nil {
				return err
			}
		}
		if folder {
			if err := c.folder(ctx, at, old[file.Name], file.ID, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// before returns the folders in a folder of the base, by name.
func (c *nameCheck) before(ctx context.Context, id string) map[string]string {
	if id == "" {
		return nil
	}
	files, err := c.r.Folder(ctx, id)
	if err != nil {
		return nil // all is looked at
	}
	folders := map[string]string{}
	for _, f := range files {
		if f.Type == domarkx.Directory {
			folders[f.Name] = f.ID
		}
	}
	return folders
}

// mayHaveTwins reports whether names of a folder may be the same to some file system. It
// costs little, since it is asked of every folder.
func (c *nameCheck) mayHaveTwins(files []domarkx.File) bool {
	plain := true
	for _, f := range files {
		plain = plain && isPlain(f.Name)
	}
	if plain {
		return false
	}
	clear(c.hashes)
	for _, f := range files {
		c.key = append(c.key[:0], f.Name...)
		for i, b := range c.key {
			if 'A' <= b && b <= 'Z' {
				c.key[i] = b + 'a' - 'A'
			} else if b >= utf8.RuneSelf {
				c.key = append(c.key[:0], (fsFolding{true, true}).key(f.Name)...)
				break
			}
		}
		sum := maphash.Bytes(c.seed, c.key)
		if c.hashes[sum] {
			return true
		}
		c.hashes[sum] = true
	}
	return false
}

// everLong is how many bytes of a name every file system takes (eCryptfs takes 143).
const everLong = 140

// isOdd reports whether not every file system may take a name.
func isOdd(name string) bool { return len(name) > everLong || !utf8.ValidString(name) }

// isPlain reports whether no other name of that kind is the same to any file system.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// name lets the file system look for a name, which tells what it thinks of it.
func (c *nameCheck) name(at, name string) error {
	_, err := c.f.top.stat(name)
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%s has a name of %d bytes, which is too long for the file system here: %w", quoted(at), len(name), domarkx.ErrUnsupported)
	case errors.Is(err, syscall.EILSEQ), errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("%s has a name that the file system here does not take: %w", quoted(at), domarkx.ErrUnsupported)
	}
	return nil
}

// twins refuses names of one folder that are the same to the file system.
func (c *nameCheck) twins(path string, files []domarkx.File) error {
	if len(c.f.exclude) > 0 {
		files = slices.DeleteFunc(slices.Clone(files), func(f domarkx.File) bool {
			return c.f.excluded(join(path, f.Name), f.Type == domarkx.Directory)
		})
	}
	if _, _, found := twin(files, fsFolding{true, true}); !found {
		return nil
	}
	if c.f.same == nil {
		same, err := c.f.fsFolding()
		if err != nil {
			return nil // loading tells it
		}
		c.f.same = &same
	}
	one, other, found := twin(files, *c.f.same)
	if !found {
		return nil
	}
	return fmt.Errorf("%s and %s are the same name to the file system here: %w", quoted(join(path, one)), quoted(join(path, other)), domarkx.ErrUnsupported)
}

// fsFolding is what a file system does not tell apart.
type fsFolding struct{ cases, forms bool }

// key is the same for names that are the same.
func (s fsFolding) key(name string) string {
	if s.forms {
		name = norm.NFD.String(name)
	}
	if s.cases {
		name = cases.Fold().String(name)
	}
	return name
}

func twin(files []domarkx.File, s fsFolding) (one, other string, found bool) {
	if !s.cases && !s.forms {
		return "", "", false
	}
	keys := make(map[string]string, len(files))
	for _, f := range files {
		key := f.Name
		if !isPlain(key) {
			key = s.key(key)
		}
		if first, ok := keys[key]; ok {
			return first, f.Name, true
		}
		keys[key] = f.Name
	}
	return "", "", false
}

// fsFolding finds out what the file system tells apart, by a file that is gone again
// afterwards.
func (f *Directory) fsFolding() (fsFolding, error) {
	const composed, decomposed = "\u00e9", "e\u0301"
	scratch := scratchName()
	name := scratch + composed
	file, err := f.top.create(name)
	if err != nil {
		return fsFolding{}, err
	}
	defer f.top.unlink(name)
	if err := file.Close(); err != nil {
		return fsFolding{}, err
	}
	there := func(name string) bool {
		_, err := f.top.stat(name)
		return err == nil
	}
	return fsFolding{there(strings.ToUpper(scratch) + composed), there(scratch + decomposed)}, nil
}
