package tree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/domarkx/domarkx"
)

// Config says which folder is kept, and how.
type Config struct {
	Path      string   // the folder, which is there
	Cache     string   // file of the stat cache, in a folder that is there; "" for none
	Exclude   []string // patterns of what is left out
	Forbidden []string // folders that it must not contain, by whatever way
	Warn      func(message string)
}

// A Folder is a folder that is kept in versions. Its methods are called by one
// goroutine at a time.
type Folder struct {
	path      string
	cache     string
	exclude   []pattern
	forbidden map[identity]string
	warn      func(string)
	top       *dir
}

// An identity is what a file is on this machine.
type identity struct{ dev, ino uint64 }

// Open opens a folder. A pattern that is none is domarkx.ErrInvalid.
func Open(c Config) (*Folder, error) {
	exclude, err := parseExclude(c.Exclude)
	if err != nil {
		return nil, err
	}
	top, err := openTop(c.Path)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: c.Path, cache: c.Cache, exclude: exclude, warn: c.Warn, top: top, forbidden: map[identity]string{}}
	for _, path := range c.Forbidden {
		if d, err := openTop(path); err == nil {
			if st, err := d.stat(""); err == nil {
				f.forbidden[st.identity] = path
			}
			d.close()
		}
	}
	return f, nil
}

// Close gives the folder up.
func (f *Folder) Close() error { return f.top.close() }

// refuse says of a path why it cannot be in a version.
func refuse(at, why string) error {
	return fmt.Errorf("%q %s: %w", display(at), why, domarkx.ErrInvalid)
}

// display is a path as messages name it.
func display(at string) string {
	if at == "" {
		return "."
	}
	return at
}

// admit reports whether a folder may be entered.
func (f *Folder) admit(at string, st stat) error {
	if path, ok := f.forbidden[st.identity]; ok && st.ino != 0 {
		return refuse(at, fmt.Sprintf("is %q, which no resource may contain", path))
	}
	return nil
}

// explain turns an error at a path into one that names it.
func explain(at string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMount):
		return refuse(at, "is a mount point, which cannot be kept in a version; exclude it or unmount it")
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q cannot be read or changed by this user: %w", display(at), bare(err))
	}
	return fmt.Errorf("%q: %w", display(at), bare(err))
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
