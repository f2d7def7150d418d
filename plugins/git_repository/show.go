package gitrepository

import (
	"context"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// maxFiles limits the number of files that status lists.
const maxFiles = 10_000

// member returns a member whose value is a text from git.
func member(name, s string) jsonvalue.Member {
	if !utf8.ValidString(s) {
		return jsonvalue.Member{Name: name + "_base64", Value: jsonvalue.StringValue(base64.StdEncoding.EncodeToString([]byte(s)))}
	}
	return jsonvalue.Member{Name: name, Value: jsonvalue.StringValue(s)}
}

// orNull returns a text, or null for "".
func orNull(name, s string) jsonvalue.Member {
	if s == "" {
		return jsonvalue.Member{Name: name}
	}
	return member(name, s)
}

func result(members ...jsonvalue.Member) domarkx.Result {
	return domarkx.Result{Value: jsonvalue.ObjectValue(members...)}
}

// where returns the result members that name HEAD's branch and commit.
func where(ctx context.Context, g *gitcmd.Git) ([]jsonvalue.Member, error) {
	commit, err := resolve(ctx, g, "HEAD")
	if err != nil {
		return nil, err
	}
	out, err := g.Run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return []jsonvalue.Member{orNull("branch", strings.TrimSpace(string(out))), orNull("commit", commit)}, nil
}

func (r *repository) status(ctx context.Context, q request) (domarkx.Result, error) {
	members, err := where(ctx, q.g)
	if err != nil {
		return domarkx.Result{}, err
	}
	out, err := q.g.Run(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return domarkx.Result{}, explain(ctx, err)
	}
	files := []jsonvalue.Value{}
	truncated := false
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if len(line) < 4 {
			continue
		}
		if truncated = len(files) == maxFiles; truncated {
			break
		}
		files = append(files, jsonvalue.ObjectValue(member("path", line[3:]), member("index", line[:1]), member("work_tree", line[1:2])))
	}
	members = append(members, jsonvalue.Member{Name: "files", Value: jsonvalue.ArrayValue(files...)})
	if truncated {
		members = append(members, jsonvalue.Member{Name: "truncated", Value: jsonvalue.BoolValue(true)})
	}
	return result(members...), nil
}

func (r *repository) diff(ctx context.Context, q request) (domarkx.Result, error) {
	from, err := commitOf(ctx, q, "from")
	if err != nil {
		return domarkx.Result{}, err
	}
	to, err := commitOf(ctx, q, "to")
	if err != nil {
		return domarkx.Result{}, err
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short"}
	staged := isTrue(q.Value, "staged")
	switch {
	case to != "" && from == "":
		return domarkx.Result{}, invalid("to needs from")
	case to != "" && staged:
		return domarkx.Result{}, invalid("staged cannot be used with two commits")
	case staged:
		args = append(args, "--cached")
	}
	for _, id := range []string{from, to} {
		if id != "" {
			args = append(args, id)
		}
	}
	spool := toolresult.NewSpool(r.env.Dir)
	defer spool.Close()
	if _, err := q.g.Do(ctx, gitcmd.Command{Args: append(append(args, "--"), q.paths...), Stdout: spool}); err != nil {
		return domarkx.Result{}, explain(ctx, err)
	}
	shown, err := spool.Result(toolresult.Status{})
	shown.Value = shown.Value.Without("exit_code")
	return shown, err
}

func (r *repository) log(ctx context.Context, q request) (domarkx.Result, error) {
	from, err := commitOf(ctx, q, "ref")
	if err == nil && from == "" {
		from, err = resolve(ctx, q.g, "HEAD")
	}
	if err != nil {
		return domarkx.Result{}, err
	}
	commits := []jsonvalue.Value{}
	if from == "" {
		return result(jsonvalue.Member{Name: "commits", Value: jsonvalue.ArrayValue(commits...)}), nil
	}
	limit := text(q.Value, "max")
	if limit == "" {
		limit = "50"
	}
	args := []string{"log", "-z", "--format=%H%n%P%n%aI%n%an <%ae>%n%s", "--no-show-signature", "--no-color", "--no-notes", "--no-patch", "--max-count=" + limit, from, "--"}
	out, err := q.g.Run(ctx, nil, append(args, q.paths...)...)
	if err != nil {
		return domarkx.Result{}, explain(ctx, err)
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(entry, "\n", 5)
		if len(fields) < 5 {
			continue
		}
		parents := []jsonvalue.Value{}
		for _, p := range strings.Fields(fields[1]) {
			parents = append(parents, jsonvalue.StringValue(p))
		}
		commits = append(commits, jsonvalue.ObjectValue(member("commit", fields[0]), jsonvalue.Member{Name: "parents", Value: jsonvalue.ArrayValue(parents...)},
			member("date", fields[2]), member("author", fields[3]), member("subject", fields[4])))
	}
	return result(jsonvalue.Member{Name: "commits", Value: jsonvalue.ArrayValue(commits...)}), nil
}
