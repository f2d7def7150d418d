package tree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// CheckLoad refuses a version that has names which the file system cannot hold: too long
// ones, or two in one folder that are the same to it. Nothing changes. See
// [domarkx.LoadChecker].
func (f *Folder) CheckLoad(ctx context.Context, r domarkx.VersionReader, version string) error {
	top, err := r.Top(ctx, version)
	if err != nil {
		return err
	}
	c := nameCheck{f: f, r: r, seen: map[string]bool{}}
	if err := c.folder(ctx, "", top.ID, 0); err != nil {
		return err
	}
	f.checked = version
	return nil
}

// A nameCheck looks at the names of a version.
type nameCheck struct {
	f    *Folder
	r    domarkx.VersionReader
	seen map[string]bool // folders by their ids
}

func (c *nameCheck) folder(ctx context.Context, path, id string, depth int) error {
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
	plain := true
	for _, file := range files {
		if err := checkName(path, file.Name); err != nil {
			return err
		}
		at := join(path, file.Name)
		if c.f.excluded(at, file.Type == domarkx.Directory) {
			continue
		}
		if isOdd(file.Name) {
			if err := c.name(at, file.Name); err != nil {
				return err
			}
		}
		plain = plain && isPlain(file.Name)
		if file.Type == domarkx.Directory {
			if err := c.folder(ctx, at, file.ID, depth+1); err != nil {
				return err
			}
		}
	}
	if plain {
		return nil
	}
	return c.twins(path, files)
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
	one, other, found := twin(files, sameness{true, true})
	if !found {
		return nil
	}
	if c.f.same == nil {
		same, err := c.f.sameness()
		if err != nil {
			return nil // loading tells it
		}
		c.f.same = &same
	}
	if one, other, found = twin(files, *c.f.same); !found {
		return nil
	}
	return fmt.Errorf("%s and %s are the same name to the file system here: %w", quoted(join(path, one)), quoted(join(path, other)), domarkx.ErrUnsupported)
}

// sameness is what a file system does not tell apart.
type sameness struct{ cases, forms bool }

// key is the same for names that are the same.
func (s sameness) key(name string) string {
	if s.forms {
		name = norm.NFD.String(name)
	}
	if s.cases {
		name = cases.Fold().String(name)
	}
	return name
}

func twin(files []domarkx.File, s sameness) (one, other string, found bool) {
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

// sameness finds out what the file system tells apart, by a file that is gone again
// afterwards.
func (f *Folder) sameness() (sameness, error) {
	const composed, decomposed = "\u00e9", "e\u0301"
	scratch := scratchName()
	name := scratch + composed
	file, err := f.top.create(name)
	if err != nil {
		return sameness{}, err
	}
	defer f.top.unlink(name)
	if err := file.Close(); err != nil {
		return sameness{}, err
	}
	there := func(name string) bool {
		_, err := f.top.stat(name)
		return err == nil
	}
	return sameness{there(strings.ToUpper(scratch) + composed), there(scratch + decomposed)}, nil
}
