package gitrepository

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

func (r *repository) commit(ctx context.Context, q request) (domarkx.Result, error) {
	env, err := r.signature(ctx, "commit", q.Value)
	if err != nil {
		return domarkx.Result{}, err
	}
	staged := isTrue(q.Value, "staged")
	if staged && q.paths != nil {
		return domarkx.Result{}, invalid("expected either staged or paths, not both")
	}
	if !staged {
		if err := r.stage(ctx, q.g, q.paths); err != nil {
			return domarkx.Result{}, err
		}
	}
	if !isTrue(q.Value, "allow_empty") {
		if err := r.somethingStaged(ctx, q.g); err != nil {
			return domarkx.Result{}, err
		}
	}
	args := []string{"commit", "--quiet", "--file=-", "--cleanup=whitespace", "--no-verify", "--no-status", "--no-gpg-sign"}
	if isTrue(q.Value, "allow_empty") {
		args = append(args, "--allow-empty")
	}
	err = r.change(ctx, q.g, gitcmd.Command{Args: args, Env: env, Stdin: strings.NewReader(text(q.Value, "message"))})
	return r.done(ctx, q.g, err)
}

// somethingStaged returns an error if there is nothing to commit. Otherwise git commit would
// describe the work tree, for which it runs git in submodules, which runs programs that their
// config names; no setting prevents this if a submodule asks for it.
func (r *repository) somethingStaged(ctx context.Context, g *gitcmd.Git) error {
	if _, err := os.Lstat(filepath.Join(r.gitDir, "MERGE_HEAD")); err == nil {
		return nil // a merge may change nothing
	}
	_, err := g.Run(ctx, nil, "diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
	var failed *gitcmd.Error
	switch {
	case err == nil:
		return &domarkx.ToolError{Code: domarkx.CodeFailed, Message: "nothing to commit"}
	case errors.As(err, &failed) && failed.Code == 1:
		return nil
	}
	return explain(ctx, err)
}

// stage stages all changes below some paths, nil for all. It does not use git add, which looks
// into submodules and runs programs that their config names.
func (r *repository) stage(ctx context.Context, g *gitcmd.Git, paths []string) error {
	list := append([]string{"ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard", "--"}, paths...)
	changed, err := g.Run(ctx, nil, list...)
	if err != nil {
		return explain(ctx, err)
	}
	// A repository in the work tree is listed as a directory. Its name stands for the commit
	// that it has checked out.
	var files, repositories []byte
	for path := range bytes.SplitAfterSeq(changed, []byte{0}) {
		if repository, ok := bytes.CutSuffix(path, []byte("/\x00")); ok {
			repositories = append(append(repositories, repository...), 0)
		} else {
			files = append(files, path...)
		}
	}
	if err := r.refuseFiltered(ctx, g, files); err != nil {
		return err
	}
	update := []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}
	if len(repositories) > 0 {
		err := r.change(ctx, g, gitcmd.Command{Args: update, Stdin: bytes.NewReader(repositories)})
		var tool *domarkx.ToolError
		if errors.As(err, &tool) {
			tool.Message += "\na repository in the work tree that has no commit cannot be recorded; commit there, ignore it, or name paths without it"
		}
		if err != nil {
			return err
		}
	}
	return r.change(ctx, g, gitcmd.Command{Args: update, Stdin: bytes.NewReader(files)})
}

// refuseFiltered returns an error if the attributes of an existing file name a filter. Since no filter runs, the commit
// would have the content that Git LFS, for example, keeps out of it.
func (r *repository) refuseFiltered(ctx context.Context, g *gitcmd.Git, files []byte) error {
	out, err := g.Run(ctx, bytes.NewReader(files), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return explain(ctx, err)
	}
	for f := strings.Split(string(out), "\x00"); len(f) > 3; f = f[3:] { // path, name, value
		path, filter := f[0], f[2]
		if filter == "unspecified" || filter == "unset" || filter == "set" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Path(), path)); err != nil {
			continue // it is deleted
		}
		return refusal("%q has the attribute filter=%s, and filters, which are programs, do not run here: the commit would have other content than yours; commit it with git, or name paths without it", path, filter)
	}
	return nil
}

// done returns the result of a tool that moved HEAD: the branch and the commit. It passes on err
// unless nil.
func (r *repository) done(ctx context.Context, g *gitcmd.Git, err error) (domarkx.Result, error) {
	if err != nil {
		return domarkx.Result{}, err
	}
	members, err := where(ctx, g)
	return result(members...), err
}

func (r *repository) checkout(ctx context.Context, q request) (domarkx.Result, error) {
	env, err := r.signature(ctx, "checkout", q.Value)
	if err != nil {
		return domarkx.Result{}, err
	}
	args, err := checkoutArgs(ctx, q)
	if err != nil {
		return domarkx.Result{}, err
	}
	return r.done(ctx, q.g, r.change(ctx, q.g, gitcmd.Command{Args: args, Env: env}))
}

func checkoutArgs(ctx context.Context, q request) ([]string, error) {
	args := []string{"checkout", "--quiet", "--no-recurse-submodules"}
	if isTrue(q.Value, "force") {
		args = append(args, "--force")
	}
	ref, create := text(q.Value, "ref"), isTrue(q.Value, "create")
	switch {
	case q.paths != nil && create, text(q.Value, "start") != "" && !create:
		return nil, invalid("start needs create, and cannot be used with paths")
	case ref == "" && q.paths == nil:
		return nil, invalid("expected ref, or paths")
	case q.paths != nil:
		id, err := commitOf(ctx, q, "ref")
		if err != nil {
			return nil, err
		}
		if id != "" {
			args = append(args, id)
		}
		return append(append(args, "--"), q.paths...), nil
	case create:
		start, err := commitOf(ctx, q, "start")
		if err == nil {
			err = branchName(ctx, q.g, ref)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, "--no-track", "-b", ref)
		if start != "" {
			args = append(args, start)
		}
		return append(args, "--"), nil
	}
	for _, prefix := range []string{"refs/heads/", "refs/remotes/origin/"} {
		id, err := resolve(ctx, q.g, prefix+ref)
		switch {
		case err != nil:
			return nil, err
		case id == "":
		case prefix == "refs/heads/":
			return append(args, ref, "--"), nil
		default:
			if err := branchName(ctx, q.g, ref); err != nil {
				return nil, err
			}
			return append(args, "-b", ref, "--track", "origin/"+ref, "--"), nil
		}
	}
	id, err := commitOf(ctx, q, "ref")
	return append(args, "--detach", id, "--"), err
}

func (r *repository) branch(ctx context.Context, q request) (domarkx.Result, error) {
	name := text(q.Value, "name")
	if name == "" {
		return branches(ctx, q.g)
	}
	env, err := r.signature(ctx, "branch", q.Value)
	if err != nil {
		return domarkx.Result{}, err
	}
	if err := branchName(ctx, q.g, name); err != nil {
		return domarkx.Result{}, err
	}
	args := []string{"branch", "--quiet", "--no-track", name}
	if isTrue(q.Value, "delete") {
		args = []string{"branch", "--quiet", "--delete", name}
		if isTrue(q.Value, "force") {
			args = append(args, "--force")
		}
	} else if start, err := commitOf(ctx, q, "start"); err != nil {
		return domarkx.Result{}, err
	} else if start != "" {
		args = append(args, start)
	}
	if err := r.change(ctx, q.g, gitcmd.Command{Args: args, Env: env}); err != nil {
		return domarkx.Result{}, err
	}
	return branches(ctx, q.g)
}

func branches(ctx context.Context, g *gitcmd.Git) (domarkx.Result, error) {
	out, err := g.Run(ctx, nil, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname) %(HEAD)", "refs/heads/")
	if err != nil {
		return domarkx.Result{}, explain(ctx, err)
	}
	list := []jsonvalue.Value{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 {
			current := jsonvalue.BoolValue(len(fields) > 2)
			list = append(list, jsonvalue.ObjectValue(member("name", fields[0]), member("commit", fields[1]), jsonvalue.Member{Name: "current", Value: current}))
		}
	}
	return result(jsonvalue.Member{Name: "branches", Value: jsonvalue.ArrayValue(list...)}), nil
}
