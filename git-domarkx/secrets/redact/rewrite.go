package redact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// rewrite creates the redacted commits of a history. theirs are commits of a remote, which can be
// other forms of commits in the history. Unless accept is set, rewrite returns an error that
// matches [transfer.ErrNotSame] if these differ in more than secrets and expired files. With an empty table, it replaces no secrets, and
// reads no texts but those in which both sides differ. stubs maps the keys of the versions that lose their files, or have lost them.
func (m *Manager) rewrite(ctx context.Context, tx *gitstore.Tx, h *history, theirs []snapshot.CommitHead, drop []string, accept bool,
	t *placeholder.Table, stubs map[string]*domarkx.Expiry) (*rewriter, error) {
	if len(h.snapshots) > 0 && !t.IsEmpty() {
		if _, err := m.recall(ctx, key(h.snapshots[0]), t); err != nil {
			return nil, err
		}
	}
	others, otherVersions := divided(theirs)
	all := ordered(h.snapshots, others)
	// The history can have placeholders, of earlier redactions or of sessions from elsewhere.
	if err := m.collect(ctx, m.collector(t, true), all); err != nil {
		return nil, err
	}
	r, err := m.reconcile(ctx, t, h, theirs, accept)
	if err == nil {
		err = m.collect(ctx, m.collector(t, false), all)
	}
	if err != nil {
		return nil, err
	}
	c, walked, names := m.collector(t, false), map[string]string{}, map[string]bool{}
	for _, head := range slices.Concat(h.versions, otherVersions) {
		if t.IsEmpty() {
			break
		}
		v, err := m.store.VersionOrStub(ctx, head.Version.ID)
		if err == nil {
			err = c.noteVersion(ctx, tx, v, walked, names)
		}
		if err != nil {
			return nil, err
		}
	}
	w := newRewriter(tx, t, drop, m.env.Workspaces)
	w.joined, w.stubs = r, stubs
	return w, m.rewriteCommits(ctx, w, h, theirs)
}

func (m *Manager) collect(ctx context.Context, c *collector, snapshots []snapshot.CommitHead) error {
	for _, head := range snapshots {
		if c.table.IsEmpty() {
			break
		}
		if err := c.snapshot(ctx, head); err != nil {
			return err
		}
	}
	return nil
}

// reconcile compares the commits that both sides have in different forms.
func (m *Manager) reconcile(ctx context.Context, t *placeholder.Table, h *history, theirs []snapshot.CommitHead, accept bool) (*reconciler, error) {
	ours, keys := slices.Concat(h.snapshots, h.versions), map[string]string{}
	for _, head := range slices.Concat(ours, theirs) {
		if k := key(head); k != idOf(head) {
			keys[idOf(head)] = k
		}
	}
	if t.IsEmpty() { // other refs of remotes can have other forms of the same commits
		ours = slices.DeleteFunc(ours, func(head snapshot.CommitHead) bool { return !h.local[idOf(head)] })
	}
	r := &reconciler{from: m.store.Reader, ours: t.New(), theirs: t.New(), next: t, keys: keys, joined: map[string][]byte{}, same: map[string]bool{},
		digests: map[string]string{}, accept: accept, pairs: pairs(ours, theirs)}
	if len(r.pairs) == 0 {
		return r, nil
	}
	for side, list := range map[*placeholder.Table][]snapshot.CommitHead{r.ours: ours, r.theirs: theirs} {
		snapshots, _ := divided(list)
		if err := m.collect(ctx, m.collector(side, false), snapshots); err != nil {
			return nil, err
		}
	}
	for _, head := range theirs {
		p, ok := r.pairs[key(head)]
		var err error
		switch {
		case !ok || idOf(p.theirs) != idOf(head):
		case head.IsVersion:
			err = m.checkVersion(ctx, r, p)
		default:
			err = r.check(ctx, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// rewriteCommits creates the new forms of commits: those of versions before those of snapshots, and parents before their children. If
// both sides have a commit in different forms, which were compared, both get one new form. If no text changes, so do all forms of a
// commit.
func (m *Manager) rewriteCommits(ctx context.Context, w *rewriter, h *history, theirs []snapshot.CommitHead) error {
	foreign := map[string]bool{}
	for _, head := range theirs {
		foreign[idOf(head)] = true
	}
	rank := func(head snapshot.CommitHead) int { // only the first two kinds were compared
		switch id := idOf(head); {
		case foreign[id]:
			return 0
		case h.local[id]:
			return 1
		}
		return 2
	}
	snapshots, versions := divided(theirs)
	commits := slices.Concat(ordered(h.versions, versions), ordered(h.snapshots, snapshots))
	forms := map[string][]snapshot.CommitHead{} // the compared ones first
	for _, head := range commits {
		forms[key(head)] = append(forms[key(head)], head)
	}
	for _, all := range forms {
		slices.SortStableFunc(all, func(a, b snapshot.CommitHead) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(idOf(a), idOf(b)))
		})
	}
	for _, head := range commits {
		if w.done[idOf(head)] != "" {
			continue
		}
		all := forms[key(head)]
		compared := 1
		for compared < len(all) && rank(all[compared]) < 2 {
			compared++
		}
		same, kept := all, all[:compared]
		if p, paired := w.joined.pairs[key(head)]; !w.table.IsEmpty() {
			same, kept = []snapshot.CommitHead{head}, nil
			switch id := idOf(head); {
			case paired && id == idOf(p.ours):
				continue // done with their form
			case paired && id == idOf(p.theirs):
				same = []snapshot.CommitHead{p.theirs, p.ours}
			case paired && !head.IsVersion:
				return fmt.Errorf("snapshot %.12s: %w: another one replaces the same", id, transfer.ErrNotSame)
			case !paired && foreign[id]:
				kept = same
			}
		}
		now, err := m.newForm(ctx, w, kept, same[0], all)
		switch {
		case err == nil:
		case w.table.IsEmpty():
			return err
		default:
			return fmt.Errorf("redacting: %w", err)
		}
		for _, form := range same {
			w.done[idOf(form)] = now
		}
	}
	return nil
}

// newForm returns the new form of a commit: one of those in kept that needs no change, or else a new commit, made of from. all are all
// its forms; one may be the only one with files.
func (m *Manager) newForm(ctx context.Context, w *rewriter, kept []snapshot.CommitHead, from snapshot.CommitHead, all []snapshot.CommitHead) (string, error) {
	stub := w.stubs[key(from)]
	for _, form := range kept {
		if _, moved := w.parents(form.Parents); !moved && (!form.IsVersion || sameExpiry(stub, form.Version.Expired)) {
			return idOf(form), nil
		}
	}
	if !from.IsVersion {
		if err := w.snapshot(ctx, from); err != nil {
			return "", fmt.Errorf("snapshot %.12s: %w", idOf(from), err)
		}
		return w.done[idOf(from)], nil
	}
	if stub == nil && from.Version.Expired != nil { // it is needed here
		i := slices.IndexFunc(all, func(h snapshot.CommitHead) bool { return h.Version.Expired == nil })
		from = all[max(i, 0)]
	}
	v, err := m.store.VersionOrStub(ctx, idOf(from))
	if err == nil {
		err = w.version(ctx, from, v)
	}
	return w.done[idOf(from)], err
}

// checkVersion compares the two forms of a workspace version.
func (m *Manager) checkVersion(ctx context.Context, r *reconciler, p pair) error {
	if r.accept {
		return nil
	}
	a, b, err := both(ctx, m.store.VersionOrStub, idOf(p.ours), idOf(p.theirs))
	if err != nil {
		return err
	}
	if a.Expired != nil || b.Expired != nil {
		a.Resources, b.Resources = nil, nil
	}
	differ := fmt.Errorf("%w: workspace version %.12s and %.12s", transfer.ErrNotSame, a.ID, b.ID)
	if a.Number != b.Number || a.Operation != b.Operation || len(a.Resources) != len(b.Resources) || !r.sameParents(p.ours, p.theirs) ||
		!sameSignature(p.ours.Author, p.theirs.Author) || !sameSignature(p.ours.Committer, p.theirs.Committer) {
		return differ
	}
	for i, x := range a.Resources {
		y := b.Resources[i]
		if x.ID != y.ID || x.Type != y.Type {
			return differ
		}
		if _, err := r.text([]byte(x.Config.JSON()), []byte(y.Config.JSON()), true); err != nil {
			return err
		}
		if err := m.checkFiles(ctx, r, x.Version, y.Version); err != nil {
			return fmt.Errorf("resource %q: %w", x.ID, err)
		}
	}
	return nil
}

// checkFiles compares two versions of a resource, which must have the same files with the same
// attributes.
func (m *Manager) checkFiles(ctx context.Context, r *reconciler, a, b string) error {
	if a == b {
		return nil
	}
	content := func(ctx context.Context, id string) ([]byte, error) {
		return domarkx.ReadContent(ctx, m.store, id, math.MaxInt64)
	}
	return m.store.DiffVersions(ctx, a, b, func(path string, old, now *domarkx.File) error {
		if old == nil || now == nil || old.Type != now.Type || old.Mode != now.Mode {
			return fmt.Errorf("%w: the file %q", transfer.ErrNotSame, path)
		}
		if old.Type != domarkx.Regular && old.Type != domarkx.Symlink || old.ID == now.ID || !r.first(old.ID, now.ID) {
			return nil
		}
		x, y, err := both(ctx, content, old.ID, now.ID)
		if err == nil {
			_, err = r.text(x, y, secrets.IsText(x))
		}
		return err
	})
}
