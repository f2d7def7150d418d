package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A staging is a directory through which host and plugin exchange files.
type staging struct {
	path string
	info os.FileInfo
}

// stage creates an empty staging directory.
func (r *resource) stage() (*staging, error) {
	s := &staging{path: r.in(stagingName)}
	err := removeDirectory(s.path)
	if err == nil {
		err = os.Mkdir(s.path, 0o700)
	}
	if err == nil {
		s.info, err = os.Lstat(s.path)
	}
	if err != nil {
		return nil, fmt.Errorf("creating a directory for the plugin's files: %w", err)
	}
	return s, nil
}

func (s *staging) remove() error { return removeDirectory(s.path) }

// whole returns an error if the plugin replaced the staging directory.
func (s *staging) whole() error {
	info, err := os.Lstat(s.path)
	if err != nil || !info.IsDir() || !os.SameFile(info, s.info) {
		return errors.New("the plugin replaced the directory that it was given")
	}
	return nil
}

// attachment opens the file that an answer names, nil for none.
func (s *staging) attachment(v jsonvalue.Value) (io.ReadCloser, error) {
	named, ok := v.Get("attachment")
	if !ok || named.Kind() == jsonvalue.Null {
		return nil, nil
	}
	name := named.Text()
	if named.Kind() != jsonvalue.String || name == "" || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil, fmt.Errorf(`"attachment" is %s, expected the name of a file in "attachments"`, named.JSON())
	}
	if err := s.whole(); err != nil {
		return nil, err
	}
	file := filepath.Join(s.path, name)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf(`"attachment": %q is not a regular file in "attachments"`, name)
	}
	f, err := os.OpenFile(file, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, fmt.Errorf(`"attachment": %w`, err)
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(opened, info) {
		f.Close()
		return nil, fmt.Errorf(`"attachment": %q is not a regular file in "attachments"`, name)
	}
	return f, nil
}

// Modes of files in a version.
const (
	fileMode      = 0o644
	programMode   = 0o755
	directoryMode = 0o755
	linkMode      = 0o777
)

// plain is a VersionWriter that accepts only what versions of a plugin may contain, and reduces
// modes to whether a file is executable: equal states must be equal on every machine.
type plain struct{ domarkx.VersionWriter }

func (p plain) Add(ctx context.Context, at string, f domarkx.File) error {
	if err := check(at, f.Type, f.Target); err != nil {
		return err
	}
	mode := f.Mode
	f.Mode, f.Xattrs, f.HasOwner, f.HardLink = fileMode, nil, false, ""
	switch {
	case f.Type == domarkx.Directory:
		f.Mode = directoryMode
	case f.Type == domarkx.Symlink:
		f.Mode = linkMode
	case mode&0o100 != 0:
		f.Mode = programMode
	}
	return p.VersionWriter.Add(ctx, at, f)
}

// check rejects files that no version may contain.
func check(at string, kind domarkx.FileType, target string) error {
	switch kind {
	case domarkx.Regular, domarkx.Directory:
		return nil
	case domarkx.Symlink:
		if staysInside(at, target) {
			return nil
		}
		return fmt.Errorf("%q is a symbolic link to %q, which is outside: %w", at, target, domarkx.ErrInvalid)
	}
	return fmt.Errorf("%q is a %v: %w", at, kind, domarkx.ErrInvalid)
}

// staysInside reports whether the target of a link lies in the directory. ".." is allowed only
// at its beginning, since behind another link it could lead anywhere.
func staysInside(at, target string) bool {
	if target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") {
		return false
	}
	left := strings.Count(at, "/")
	up := true
	for name := range strings.SplitSeq(target, "/") {
		switch {
		case name == "..":
			if left--; left < 0 || !up {
				return false
			}
		case name != "" && name != ".":
			up = false
		}
	}
	return true
}

// admit rejects a version, which may come from anybody, that no plugin could have written.
func admit(ctx context.Context, r domarkx.VersionReader, version string) error {
	return domarkx.WalkVersion(ctx, r, version, func(at string, f domarkx.File) error {
		var target []byte
		if f.Type == domarkx.Symlink {
			var err error
			if target, err = domarkx.ReadContent(ctx, r, f.ID, maxTarget); err != nil {
				return fmt.Errorf("%q: %w", at, err)
			}
		}
		if err := check(at, f.Type, string(target)); err != nil {
			return err
		}
		if f.Type == domarkx.Regular && f.Mode != fileMode && f.Mode != programMode || f.Type == domarkx.Directory && f.Mode != directoryMode {
			return fmt.Errorf("%q has the mode %04o: %w", at, f.Mode, domarkx.ErrInvalid)
		}
		return nil
	})
}

// maxTarget limits the target of a symbolic link, in bytes (PATH_MAX).
const maxTarget = 4096
