package dirversion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CheckLoad rejects a version with names that the file system cannot hold: names that are
// too long, or two in one directory that the file system considers equal. It skips what
// base has, since that was loaded before, and changes nothing. See [domarkx.LoadChecker].
func (f *Directory) CheckLoad(ctx context.Context, r domarkx.VersionReader, base, version string) error {
	top, err := r.Top(ctx, version)
	if err != nil {
		return err
	}
	before := ""
	if base != "" {
		if old, err := r.Top(ctx, base); err == nil { // otherwise everything is checked
			before = old.ID
		}
	}
	c := nameCheck{f: f, r: r, seen: map[string]bool{}}
	if err := c.directory(ctx, "", before, top.ID, 0); err != nil {
		return err
	}
	f.checked = version
	return nil
}

// A nameCheck checks the names in a version.
type nameCheck struct {
	f    *Directory
	r    domarkx.VersionReader
	seen map[string]bool // ids of checked directories
}

// directory checks a directory. base is the id of the directory that base has at its path,
// "" for none.
func (c *nameCheck) directory(ctx context.Context, path, base, id string, depth int) error {
	if id == base {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: it is more than %d directories deep: %w", quoted(path), maxDepth, domarkx.ErrCorrupt)
	}
	if c.f.exclude == nil { // with exclude patterns, the files to write depend on the path as well
		if c.seen[id] {
			return nil
		}
		c.seen[id] = true
	}
	files, err := c.r.Directory(ctx, id)
	if err != nil {
		return fmt.Errorf("%s: %w", quoted(path), err)
	}
	var old []domarkx.File
	if base != "" {
		old, _ = c.r.Directory(ctx, base) // without the base, everything is checked
	}
	if err := c.twins(path, files); err != nil {
		return err
	}
	for _, file := range files {
		if err := checkName(path, file.Name); err != nil {
			return err
		}
		directory, odd := file.Type == domarkx.Directory, isOdd(file.Name)
		if !directory && !odd {
			continue
		}
		at := join(path, file.Name)
		if c.f.excluded(at, directory) {
			continue
		}
		if odd {
			if err := c.name(at, file.Name); err != nil {
				return err
			}
		}
		if directory {
			if err := c.directory(ctx, at, directoryIn(old, file.Name), file.ID, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// everLong is a length of names, in bytes, that every file system allows (eCryptfs allows 143).
const everLong = 140

// isOdd reports whether some file systems may reject a name because of its length or encoding.
func isOdd(name string) bool { return len(name) > everLong || !utf8.ValidString(name) }

// isPlain reports whether a name has only characters that no file system folds: ASCII without
// capitals.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// name looks up a name in the top directory, to find out whether the file system accepts it. It
// returns domarkx.ErrUnsupported if not.
func (c *nameCheck) name(at, name string) error {
	_, err := c.f.top.Stat(name)
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%s has a name of %d bytes, which is too long for the file system here: %w", quoted(at), len(name), domarkx.ErrUnsupported)
	case errors.Is(err, syscall.EILSEQ), errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("%s has a name that the file system here does not accept: %w", quoted(at), domarkx.ErrUnsupported)
	}
	return nil
}

// twins returns domarkx.ErrUnsupported if the file system considers two names of a directory equal. It must be fast where
// no file system does, since it runs for every directory.
func (c *nameCheck) twins(path string, files []domarkx.File) error {
	if !slices.ContainsFunc(files, func(f domarkx.File) bool { return !isPlain(f.Name) }) {
		return nil
	}
	if c.f.exclude != nil {
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
			return nil // Load reports the error
		}
		c.f.same = &same
	}
	one, other, found := twin(files, *c.f.same)
	if !found {
		return nil
	}
	return fmt.Errorf("%s and %s are the same name to the file system here: %w", quoted(join(path, one)), quoted(join(path, other)), domarkx.ErrUnsupported)
}

// fsFolding says which names a file system considers equal.
type fsFolding struct{ cases, forms bool }

// key returns equal keys for names that the file system considers equal.
func (s fsFolding) key(name string) string {
	ascii := !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	switch {
	case ascii && s.cases: // the same as below, and faster
		return strings.ToLower(name)
	case ascii:
		return name
	}
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
		key := s.key(f.Name)
		if first, ok := keys[key]; ok {
			return first, f.Name, true
		}
		keys[key] = f.Name
	}
	return "", "", false
}

// fsFolding determines how the file system compares names. It creates a file and removes
// it again.
func (f *Directory) fsFolding() (fsFolding, error) {
	const composed, decomposed = "\u00e9", "e\u0301"
	in := f.top
	if f.observe != nil && f.observe.Aside != "" { // where Git does not list it
		err := os.MkdirAll(f.observe.Aside, 0o700)
		if err == nil {
			in, err = beneath.Open(f.observe.Aside)
		}
		if err != nil {
			return fsFolding{}, err
		}
		defer in.Close()
	}
	scratch := scratchName()
	name := scratch + composed
	file, err := in.Create(name)
	if err != nil {
		return fsFolding{}, err
	}
	defer in.Unlink(name)
	if err := file.Close(); err != nil {
		return fsFolding{}, err
	}
	there := func(name string) bool {
		_, err := in.Stat(name)
		return err == nil
	}
	return fsFolding{there(strings.ToUpper(scratch) + composed), there(scratch + decomposed)}, nil
}
