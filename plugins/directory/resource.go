package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// Properties are the config keys of a directory, as the properties of a JSON Schema.
const Properties = `"path": {"type": "string", "minLength": 1, "description": "directory of the work tree to work on in place, from its top; without it a private directory is kept"},
"exclude": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "patterns of what is in no version, as in gitignore without \"!\""}`

// A Resource is a directory on this machine with versions. It implements [domarkx.Resource].
type Resource struct {
	*dirversion.Directory
	path   string
	env    string // Env.Dir
	own    bool   // whether the directory is private
	files  *Files
	hidden []string
}

const (
	privateName = "files"
	cacheName   = "stat"
	// NoteName is the file in Env.Dir in which [Files] notes the path of a temporary file.
	NoteName = "aside"
)

// Open opens the directory of a resource: the "path" of its config, or a directory in
// env.Dir when env is private or names no path. Open creates the directory if it is
// missing.
func Open(env domarkx.Env) (*Resource, error) {
	f := &Resource{env: env.Dir}
	path, named := env.Config.Get("path")
	f.own = env.Private || !named
	var forbidden []string
	var err error
	if f.own {
		f.path = filepath.Join(env.Dir, privateName)
		err = makePrivate(f.path)
	} else {
		forbidden = forbiddenOf(env)
		f.path, err = InWorkTree(env, path.Text(), false)
	}
	if err != nil {
		return nil, err
	}
	var exclude []string
	if list, ok := env.Config.Get("exclude"); ok {
		for _, item := range list.Items() {
			exclude = append(exclude, item.Text())
		}
	}
	f.Directory, err = dirversion.Open(dirversion.Config{Path: f.path, Cache: filepath.Join(env.Dir, cacheName), Exclude: exclude, Forbidden: forbidden, Limits: env.Limits, Warn: env.Warn})
	if err != nil {
		return nil, err
	}
	f.hidden = forbidden
	if f.files, err = OpenFiles(f.path, forbidden, filepath.Join(env.Dir, NoteName)); err != nil {
		f.Directory.Close()
		return nil, err
	}
	return f, nil
}

// makePrivate creates a directory with a mode that does not depend on the umask. It rejects
// anything else in its place: a link could lead to files that no version contains, which a
// load would remove.
func makePrivate(path string) error {
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Lstat(path)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%q is no longer a directory: %w; remove it, and restore the last version with a rewind", path, domarkx.ErrInvalid)
		}
		return err
	}
	if err == nil {
		err = os.Chmod(path, 0o755)
	}
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	return err
}

// forbiddenOf returns the paths that no resource in the work tree may reach. They include the .git of a linked work tree, which
// is a file.
func forbiddenOf(env domarkx.Env) []string {
	return append([]string{filepath.Join(env.WorkTree, ".git")}, env.Forbidden...)
}

// InWorkTree returns the path, without symbolic links, of the directory that a config's path names, and creates it. With file set,
// the path is that of a file, which need not exist, and InWorkTree creates its directory. It returns [domarkx.ErrInvalid] for a path
// that leads out of the work tree or to what is forbidden.
func InWorkTree(env domarkx.Env, path string, file bool) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("path %q %s: %w", path, fmt.Sprintf(format, args...), domarkx.ErrInvalid)
	}
	if env.WorkTree == "" {
		return refuse("needs a work tree, and the repository is bare; leave it out for a private resource")
	}
	top, err := filepath.EvalSymlinks(env.WorkTree)
	if err != nil {
		return "", err
	}
	local := filepath.Clean(filepath.FromSlash(path))
	if !filepath.IsLocal(local) || file && local == "." {
		return refuse("is outside of the work tree, expected one from its top")
	}
	check := func(real string) error {
		for _, f := range forbiddenOf(env) {
			if f = beneath.Resolve(f); beneath.Within(real, f) {
				_, err := refuse("is in %q, which no resource may reach", f)
				return err
			}
		}
		if !beneath.Within(real, top) {
			_, err := refuse("leads out of the work tree")
			return err
		}
		return nil
	}
	// Check where the path leads before creating anything there.
	if err := check(beneath.Resolve(filepath.Join(top, local))); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	directory := local
	if file {
		directory = filepath.Dir(local)
	}
	if err := makeDirectories(root, directory); err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	real := beneath.Resolve(filepath.Join(top, local))
	return real, check(real)
}

// makeDirectories creates a directory with its parents, durably.
func makeDirectories(root *os.Root, local string) error {
	if _, err := root.Stat(local); err == nil || local == "." {
		return err
	}
	parent := filepath.Dir(local)
	if err := makeDirectories(root, parent); err != nil {
		return err
	}
	if err := root.Mkdir(local, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncDir(filepath.Join(root.Name(), parent))
}

// Path returns the absolute path of the directory.
func (f *Resource) Path() string { return f.path }

// IsPrivate reports whether the directory belongs to this resource alone.
func (f *Resource) IsPrivate() bool { return f.own }

// Hidden returns the absolute paths that are not part of the resource even where they lie in
// the directory, such as the repository's Git directory: versions do not contain them, loads
// do not touch them, and the tools do not reach them.
func (f *Resource) Hidden() []string { return f.hidden }

// Files returns the tools of the directory, usable until Close.
func (f *Resource) Files() *Files { return f.files }

// Execute calls one of the [Tools].
func (f *Resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	r, known, err := f.files.Execute(ctx, call)
	if !known {
		return r, domarkx.NewToolError(domarkx.CodeUnknownTool, "no tool %q", call.Tool)
	}
	return r, err
}

// Close closes the directory.
func (f *Resource) Close(context.Context) error {
	return errors.Join(f.Directory.Close(), f.files.Close())
}

// TearDown closes the directory and removes it if it is private.
func (f *Resource) TearDown(ctx context.Context) error {
	err := f.Close(ctx)
	if f.own {
		err = errors.Join(err, dirversion.Empty(f.path), os.RemoveAll(f.path))
	}
	if rerr := os.Remove(filepath.Join(f.env, cacheName)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}
