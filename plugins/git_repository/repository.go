package gitrepository

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// A repository is a Git repository with its work tree.
type repository struct {
	*directory.Resource
	env    domarkx.Env
	files  *directory.Files
	gitDir string
}

// Files in the resource's own directory (Env.Dir), besides those of package directory.
const (
	madeName    = "made"    // the repository was created or loaded
	runningName = "running" // git is changing the repository
	digestName  = "index"   // digest of the index last committed or loaded
	cloneName   = "clone"   // a repository that is being cloned
)

func (r *repository) in(name string) string { return filepath.Join(r.env.Dir, name) }

func (r *repository) made() bool {
	_, err := os.Lstat(r.in(madeName))
	return err == nil
}

// ensure creates the repository if necessary, and removes the leftovers of a killed git.
func (r *repository) ensure(ctx context.Context) error {
	if r.made() {
		return r.unlock()
	}
	if err := r.make(ctx); err != nil {
		return err
	}
	return atomicfile.Replace(r.in(madeName), nil)
}

// unlock removes the locks of a killed git.
func (r *repository) unlock() error {
	if _, err := os.Lstat(r.in(runningName)); err != nil {
		return nil
	}
	root, err := os.OpenRoot(r.gitDir)
	if err != nil {
		return os.Remove(r.in(runningName))
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // an unreadable directory contains no lock of ours
		case d.IsDir() && at != "." && at != "refs" && !strings.HasPrefix(at, "refs/"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(at, ".lock"):
			return root.Remove(at)
		}
		return nil
	})
	return errors.Join(err, os.Remove(r.in(runningName)))
}

func (r *repository) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if f, ok := runners[call.Tool]; ok {
		g, err := r.git(ctx)
		if err != nil {
			return domarkx.Result{}, err
		}
		paths, err := pathsOf(call.Arguments)
		if err != nil {
			return domarkx.Result{}, err
		}
		return f(r, ctx, request{call.Arguments, g, paths})
	}
	if err := r.ensure(ctx); err != nil {
		return domarkx.Result{}, err
	}
	result, known, err := r.files.Execute(ctx, call)
	if !known {
		return result, domarkx.NewToolError(domarkx.CodeUnknownTool, "no tool %q", call.Tool)
	}
	return result, err
}

func (r *repository) Close(ctx context.Context) error {
	return errors.Join(r.files.Close(), r.Resource.Close(ctx))
}

// TearDown closes the resource and removes its own files.
func (r *repository) TearDown(ctx context.Context) error {
	err := errors.Join(r.files.Close(), r.Resource.TearDown(ctx), dirversion.Empty(r.in(cloneName)))
	for _, name := range []string{cloneName, madeName, runningName, digestName} {
		err = errors.Join(err, atomicfile.Remove(r.in(name)))
	}
	return err
}
