package dirversion

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
)

// Config says which folder is kept, and how.
type Config struct {
	Path      string   // the folder, which is there
	Cache     string   // file of the stat cache, in a folder that is there; "" for none
	Exclude   []string // patterns of what is left out
	Known     bool     // there are versions with these patterns: one that begins with "!" is a name, of which Warn is told
	Forbidden []string // what in it is left out and left alone; it must not be one of these itself
	Warn      func(message string)
}

// A Directory is a folder that is kept in versions. Its methods are called by one
// goroutine at a time.
type Directory struct {
	path      string
	cache     string
	exclude   []pattern
	forbidden map[identity]string
	inside    map[string]bool // paths in the folder of what is forbidden
	warn      func(string)
	top       *dir
	checked   string     // version that CheckLoad let through last
	same      *fsFolding // nil until it has to be known
}

// An identity is what a file is on this machine.
type identity struct{ dev, ino uint64 }

// Open opens a folder. A pattern that is none is domarkx.ErrInvalid.
func Open(c Config) (*Directory, error) {
	exclude, err := parseExclude(c)
	if err != nil {
		return nil, err
	}
	top, err := openTop(c.Path)
	if err != nil {
		return nil, err
	}
	self, err := top.stat("")
	if err != nil {
		top.close()
		return nil, err
	}
	f := &Directory{path: c.Path, cache: c.Cache, exclude: exclude, warn: c.Warn, top: top, forbidden: map[identity]string{}, inside: map[string]bool{}}
	for _, path := range c.Forbidden {
		if at, ok := below(path, c.Path); ok {
			f.inside[at] = true
		}
		if d, err := openTop(path); err == nil {
			if st, err := d.stat(""); err == nil {
				f.forbidden[st.identity] = path
			}
			d.close()
		}
	}
	if err := f.admit("", self); err != nil {
		top.close()
		return nil, err
	}
	return f, nil
}

// Close gives the folder up.
func (f *Directory) Close() error { return f.top.close() }

// refuse says of a path why it cannot be in a version.
func refuse(at, why string) error {
	return fmt.Errorf("%s %s: %w", quoted(at), why, domarkx.ErrInvalid)
}

// quoted is a path as messages name it: of a very long one the beginning and the end.
func quoted(at string) string {
	const end = 200
	switch {
	case at == "":
		return strconv.Quote(".")
	case len(at) > 3*end:
		return strconv.Quote(at[:end]) + "…" + strconv.Quote(at[len(at)-end:])
	}
	return strconv.Quote(at)
}

// below is the path of a file from a folder that it lies in.
func below(path, top string) (string, bool) {
	at, err := filepath.Rel(resolve(top), resolve(path))
	if err != nil || at == "." || !filepath.IsLocal(at) {
		return "", false
	}
	return filepath.ToSlash(at), true
}

// resolve follows the symbolic links that lead to a path. A mount whose program is
// gone cannot be looked at, only the folder that it lies in.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(real, filepath.Base(path))
	}
	return filepath.Clean(path)
}

// admit reports whether a folder may be entered.
func (f *Directory) admit(at string, st stat) error {
	if path, ok := f.forbidden[st.identity]; ok && st.ino != 0 {
		return refuse(at, fmt.Sprintf("is %q, which no resource may be", path))
	}
	return nil
}

// look stats a file of an open folder, and reports whether it is left out: neither
// given to versions nor touched.
func (f *Directory) look(d *dir, at, name string) (st stat, out bool, err error) {
	if f.inside[at] { // not even looked at: a mount may not answer
		return stat{}, true, nil
	}
	st, err = d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, err
	}
	folder := err == nil && st.kind == domarkx.Directory || errors.Is(err, errMount)
	if folder && len(f.forbidden) > 0 && st.ino != 0 {
		if _, out := f.forbidden[st.identity]; out {
			return st, true, nil
		}
	}
	return st, f.excluded(at, folder), err
}

// explain turns an error at a path into one that names it.
func explain(at string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMount):
		return refuse(at, "is a mount point, which cannot be kept in a version; exclude it or unmount it")
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be read or changed by this user: %w; change its mode, or exclude it", quoted(at), bare(err))
	}
	return fmt.Errorf("%s: %w", quoted(at), bare(err))
}

// bare is an error without the path that the os package put around it.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// errMount says that a path crosses into another mount.
var errMount = errors.New("mount point")

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// split is the folder and the name of a path.
func split(at string) (folder, name string) {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		return at[:i], at[i+1:]
	}
	return "", at
}

// scratchName is the name of a file that is written aside.
func scratchName() string { return ".domarkx-" + strings.ToLower(rand.Text()) }

// Write makes a folder, which is there, what a version holds, without keeping it.
func Write(ctx context.Context, r domarkx.VersionReader, version, path string, warn func(string)) error {
	f, err := Open(Config{Path: path, Warn: warn})
	if err != nil {
		return err
	}
	return errors.Join(f.Load(ctx, r, version), f.Close())
}
