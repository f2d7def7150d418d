package dirversion

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/gitignore"
)

// Config configures a Directory.
type Config struct {
	Path      string               // the directory; it must exist
	Cache     string               // file of the stat cache, in an existing directory; "" for none
	Exclude   []string             // patterns of files that are not versioned
	Forbidden []string             // paths that are skipped and never touched; Path must not be one of them
	Observe   *Observe             // for a work tree in which other programs work; nil otherwise
	Limits    domarkx.Limits       // of versions. A load does not touch what is over them
	Warn      func(message string) // nil for none
}

// A Directory is a directory whose versions are kept. Its methods are called by one
// goroutine at a time.
type Directory struct {
	cache     string
	exclude   *gitignore.Rules // nil for none
	forbidden map[beneath.Identity]string
	inside    map[string]bool // forbidden paths, relative to the directory
	warn      func(string)
	top       *beneath.Dir
	checked   string     // id of the version that CheckLoad accepted last
	same      *fsFolding // nil until it is needed
	observe   *observation
	limits    domarkx.Limits
	over      map[string]string // what makes the version too large, with the reason
	left      sync.Map          // path → reason of what the last commit or load left out
}

// Open opens a directory. It returns domarkx.ErrInvalid for a malformed pattern.
func Open(c Config) (*Directory, error) {
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	exclude, err := parseExclude(c)
	if err != nil {
		return nil, err
	}
	top, err := beneath.Open(c.Path)
	if err != nil {
		return nil, err
	}
	self, err := top.Stat("")
	if err != nil {
		top.Close()
		return nil, err
	}
	f := &Directory{cache: c.Cache, exclude: exclude, warn: c.Warn, limits: c.Limits, top: top, forbidden: map[beneath.Identity]string{}, inside: map[string]bool{}}
	if c.Observe != nil {
		f.observe = &observation{Observe: *c.Observe}
		f.observeAgain()
	}
	for _, path := range c.Forbidden {
		// A symbolic link such as .git must not be replaced either.
		for _, path := range []string{path, beneath.Resolve(path)} {
			if at, ok := beneath.Rel(path, c.Path); ok {
				f.inside[at] = true
			}
		}
		if d, err := beneath.Open(path); err == nil {
			if st, err := d.Stat(""); err == nil {
				f.forbidden[st.Identity] = path
			}
			d.Close()
		}
	}
	err = f.admit("", self)
	if err == nil && f.observe != nil {
		err = f.recover(context.Background())
	}
	if err != nil {
		top.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the directory.
func (f *Directory) Close() error { return f.top.Close() }

// refuse returns the error of a path that cannot be part of a version.
func refuse(at, why string) error {
	return fmt.Errorf("%s %s: %w", quoted(at), why, domarkx.ErrInvalid)
}

// quoted quotes a path for messages and shortens a very long one.
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

// admit rejects a directory that is forbidden.
func (f *Directory) admit(at string, st beneath.Stat) error {
	if path, ok := f.forbidden[st.Identity]; ok && st.Ino != 0 {
		return refuse(at, fmt.Sprintf("is %q, which no resource may be", path))
	}
	return nil
}

// look stats a file of an open directory and reports whether it is left out: neither
// versioned nor touched.
func (f *Directory) look(d *beneath.Dir, at, name string) (st beneath.Stat, out bool, err error) {
	if f.inside[at] { // not even a stat: a mount may not answer
		return beneath.Stat{}, true, nil
	}
	st, err = d.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, err
	}
	directory := err == nil && st.Kind == domarkx.Directory || errors.Is(err, beneath.ErrMount)
	if directory && len(f.forbidden) > 0 && st.Ino != 0 {
		if _, out := f.forbidden[st.Identity]; out {
			return st, true, nil
		}
	}
	out = f.excluded(at, directory)
	if reason := f.overLimit(at, st); !out && err == nil && reason != "" {
		f.left.Store(at, reason)
		return st, true, nil
	}
	if f.observe != nil {
		out = out || f.observes(d, at, name, st, err)
	}
	return st, out, err
}

// explain adds the path to an error.
func explain(at string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, beneath.ErrMount):
		return refuse(at, "is a mount point, which cannot be kept in a version; exclude it or unmount it")
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be read or changed by this user: %w; change its mode, or exclude it", quoted(at), beneath.Bare(err))
	}
	return fmt.Errorf("%s: %w", quoted(at), beneath.Bare(err))
}

func join(directory, name string) string {
	if directory == "" {
		return name
	}
	return directory + "/" + name
}

func split(at string) (directory, name string) {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		return at[:i], at[i+1:]
	}
	return "", at
}

// scratchName returns a random name for a temporary file.
func scratchName() string { return scratchPrefix + strings.ToLower(rand.Text()) }

const scratchPrefix = ".domarkx-"

// Write writes a version into an existing directory, without a stat cache.
func Write(ctx context.Context, r domarkx.VersionReader, version, path string, warn func(string)) error {
	f, err := Open(Config{Path: path, Warn: warn})
	if err != nil {
		return err
	}
	return errors.Join(f.Load(ctx, r, version), f.Close())
}

// Own sets the owners that a version records on files that Write wrote. Only root may change
// owners.
func Own(ctx context.Context, r domarkx.VersionReader, version, path string) error {
	top, err := beneath.Open(path)
	if err != nil {
		return err
	}
	defer top.Close()
	return domarkx.WalkVersion(ctx, r, version, func(at string, f domarkx.File) error {
		if !f.HasOwner || f.HardLink != "" {
			return nil
		}
		return explain(at, top.Chown(at, f))
	})
}
