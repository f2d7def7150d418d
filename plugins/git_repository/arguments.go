package gitrepository

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

func invalid(format string, args ...any) error {
	return domarkx.NewToolError(domarkx.CodeInvalid, format, args...)
}

func text(arguments jsonvalue.Value, name string) string {
	v, _ := arguments.Get(name)
	return v.Text()
}

func isTrue(arguments jsonvalue.Value, name string) bool {
	v, _ := arguments.Get(name)
	return v.IsTrue()
}

// pathsOf returns git's arguments for "paths".
func pathsOf(arguments jsonvalue.Value) ([]string, error) {
	v, _ := arguments.Get("paths")
	var paths []string
	for _, item := range v.Items() {
		path := filepath.Clean(filepath.FromSlash(item.Text()))
		if !filepath.IsLocal(path) || strings.ContainsRune(path, 0) {
			return nil, domarkx.NewToolError(domarkx.CodeRefused, "path %q is outside of the resource, expected one from its top", item.Text())
		}
		paths = append(paths, filepath.ToSlash(path))
	}
	return paths, nil
}

// commitOf returns the id of the commit in an argument, "" if it is missing.
func commitOf(ctx context.Context, q request, name string) (string, error) {
	ref := text(q.Value, name)
	if ref == "" {
		return "", nil
	}
	id, err := resolve(ctx, q.g, ref)
	if err == nil && id == "" {
		err = domarkx.NewToolError(domarkx.CodeNotFound, "%s: %q is not a branch, tag or commit", name, ref)
	}
	return id, err
}

// resolve returns the id of a commit, "" if it does not exist.
func resolve(ctx context.Context, g *gitcmd.Git, ref string) (string, error) {
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, "\x00\n") {
		return "", nil
	}
	out, err := g.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err = explain(ctx, err); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", nil
	}
	return strings.TrimSpace(string(out)), nil
}

// branchName checks the name of a new branch.
func branchName(ctx context.Context, g *gitcmd.Git, name string) error {
	if !strings.ContainsAny(name, "\x00\n") && !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "@{") {
		if _, err := g.Run(ctx, nil, "check-ref-format", "refs/heads/"+name); err == nil && name != "HEAD" {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return invalid("%q cannot be the name of a branch", name)
}

// signers are the tools that accept an author and a date.
var signers = map[string]bool{"commit": true, "checkout": true, "branch": true}

// Defaults adds the author and the date of a change to the history.
func (r *repository) Defaults(ctx context.Context, tool string, arguments jsonvalue.Value) (jsonvalue.Value, error) {
	if !signers[tool] || tool == "branch" && text(arguments, "name") == "" {
		return arguments, nil
	}
	if text(arguments, "author") == "" {
		who, err := r.identity(ctx)
		if err != nil {
			return arguments, err
		}
		arguments = arguments.With("author", jsonvalue.StringValue(who))
	}
	if text(arguments, "date") == "" {
		arguments = arguments.With("date", jsonvalue.StringValue(time.Now().UTC().Format(time.RFC3339)))
	}
	return arguments, nil
}

var person = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^<>\x00-\x1f]*[^<>\x00-\x20]) <([^<>\x00-\x1f]*)>$`)
})

// signature returns the environment that sets author and date for git.
func (r *repository) signature(ctx context.Context, tool string, arguments jsonvalue.Value) ([]string, error) {
	arguments, err := r.Defaults(ctx, tool, arguments)
	if err != nil {
		return nil, err
	}
	who := person().FindStringSubmatch(text(arguments, "author"))
	if who == nil {
		return nil, invalid("author is %q, expected a name and an address in angle brackets", text(arguments, "author"))
	}
	when, err := time.Parse(time.RFC3339, text(arguments, "date"))
	if err != nil || when.Unix() < 0 || when.Year() > 9999 {
		return nil, invalid("date is %q, expected one like 2026-01-31T12:00:00Z", text(arguments, "date"))
	}
	date := fmt.Sprintf("%d %s", when.Unix(), when.Format("-0700"))
	return []string{
		"GIT_AUTHOR_NAME=" + who[1], "GIT_AUTHOR_EMAIL=" + who[2], "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + who[1], "GIT_COMMITTER_EMAIL=" + who[2], "GIT_COMMITTER_DATE=" + date,
	}, nil
}
