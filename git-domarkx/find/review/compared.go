package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// The values of [Review.To] other than commits.
const (
	Index    = "index"
	WorkTree = "worktree"
)

// A compared is what git diff compares.
type compared struct {
	name  string // for people
	from  string // id of a commit, or of the empty tree
	since string // the commit of from, "" for the empty tree
	to    string // id of a commit, Index or WorkTree
	fresh bool   // also the files that Git does not track
}

func (m *Manager) compared(ctx context.Context, o Options) (compared, error) {
	if strings.HasPrefix(o.Range, "-") {
		return compared{}, fmt.Errorf("range %q: %w, it begins with -; git domarkx review --help lists the options", o.Range, domarkx.ErrInvalid)
	}
	c := compared{name: o.Range, to: WorkTree}
	if o.Staged {
		c.to = Index
	}
	var err error
	a, b, isRange := strings.Cut(o.Range, "..")
	switch commit, own := strings.CutSuffix(o.Range, "^!"); {
	case isRange && o.Staged:
		return c, fmt.Errorf("range %q: %w with --staged, which compares one revision with the index", o.Range, domarkx.ErrInvalid)
	case isRange:
		return c, m.between(ctx, &c, a, b)
	case own:
		if c.to, err = m.commit(ctx, commit, o.Range); err == nil {
			m.after(&c, m.find(ctx, c.to+"^"))
			err = ctx.Err()
		}
		return c, err
	case o.Range == "":
		return c, m.branch(ctx, &c)
	}
	if m.Git.WorkTree == "" && !o.Staged {
		return c, fmt.Errorf("range %q: %w: this repository has no work tree to compare it with; write %s..HEAD", o.Range, domarkx.ErrInvalid, o.Range)
	}
	c.from, err = m.commit(ctx, o.Range, o.Range)
	c.since = c.from
	return c, err
}

// between sets what A..B or A...B compares. Without A or B that side is HEAD.
func (m *Manager) between(ctx context.Context, c *compared, a, b string) (err error) {
	b, merged := strings.CutPrefix(b, ".")
	if c.from, err = m.commit(ctx, a, c.name); err != nil {
		return err
	}
	if c.to, err = m.commit(ctx, b, c.name); err != nil {
		return err
	}
	c.since = c.from
	if merged {
		return m.fork(ctx, c, c.from, c.to)
	}
	return nil
}

// fork makes the common ancestor of two commits the state before the change.
func (m *Manager) fork(ctx context.Context, c *compared, a, b string) error {
	out, err := m.Git.Run(ctx, nil, "merge-base", a, b)
	var failed *gitcmd.Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return fmt.Errorf("range %q: a commit that both have: %w; in a shallow clone, fetch more of it (git fetch --unshallow)", c.name, domarkx.ErrNotFound)
	}
	m.after(c, strings.TrimSpace(string(out)))
	return err
}

// commit returns the id of a commit; that of HEAD for "".
func (m *Manager) commit(ctx context.Context, rev, in string) (string, error) {
	if rev == "" {
		rev = "HEAD"
	}
	if !strings.HasPrefix(rev, "-") {
		if id := m.find(ctx, rev); id != "" {
			return id, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("range %q: the commit %q: %w in this repository; write paths after --", in, rev, domarkx.ErrNotFound)
}

// find returns the id of a commit, or "".
func (m *Manager) find(ctx context.Context, rev string) string {
	out, err := m.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// after makes a commit the state before the change, or the empty tree for "".
func (m *Manager) after(c *compared, commit string) {
	c.since = commit
	c.from = cmp.Or(commit, odb.Sum(m.Git.Hash, odb.Tree, nil).String())
}

// branch chooses the range if none is named: the branch since it left its upstream, else the remote's
// default branch, else the last commit, each with uncommitted changes.
func (m *Manager) branch(ctx context.Context, c *compared) error {
	head := m.find(ctx, "HEAD")
	switch {
	case c.to == Index:
		c.name = "HEAD and the index"
		m.after(c, head)
		return nil
	case m.Git.WorkTree != "":
		c.fresh = true
	case head == "":
		return fmt.Errorf("review: a commit: %w in this repository", domarkx.ErrNotFound)
	default:
		c.to = head
	}
	if head == "" {
		c.name = "what is not committed"
		m.after(c, "")
		return nil
	}
	more := ""
	if c.fresh {
		more = " and what is not committed"
	}
	for _, name := range append([]string{"@{upstream}"}, m.defaults(ctx)...) {
		base := m.find(ctx, name)
		if base == "" {
			continue
		}
		if out, err := m.Git.Run(ctx, nil, "rev-parse", "--abbrev-ref", name); err == nil {
			name = strings.TrimSpace(string(out))
		}
		c.name = name + "...HEAD"
		err := m.fork(ctx, c, base, head)
		c.name += more
		return err
	}
	c.name = "the last commit" + more
	m.after(c, m.find(ctx, head+"^"))
	return ctx.Err()
}

// defaults returns the names that a remote's default branch can have here.
func (m *Manager) defaults(ctx context.Context) (names []string) {
	config, err := m.Git.Config(ctx)
	if err != nil {
		return nil
	}
	remotes := config.Subsections("remote")
	for i, name := range remotes {
		if name == "origin" {
			remotes[0], remotes[i] = remotes[i], remotes[0]
		}
	}
	for _, remote := range remotes {
		for _, branch := range []string{"HEAD", "main", "master"} {
			names = append(names, "refs/remotes/"+remote+"/"+branch)
		}
	}
	return names
}
