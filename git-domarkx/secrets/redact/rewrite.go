package redact

import (
	"context"
	"errors"
	"fmt"
	"io"
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
// matches [transfer.ErrNotSame] if these differ in more than secrets and expired files. Without a scanner, it replaces no secrets, and
// reads no texts but those in which both sides differ. stubs maps the keys of the versions that lose their files, or have lost them.
func (m *Manager) rewrite(ctx context.Context, tx *gitstore.Tx, h *history, theirs []snapshot.CommitHead, drop []string, accept bool,
	scanner *secrets.Scanner, stubs map[string]*domarkx.Expiry) (*rewriter, error) {
	t := placeholder.New(scanner, m.allow)
	if len(h.snapshots) > 0 && !t.IsEmpty() {
		if _, err := m.recall(ctx, key(h.snapshots[0]), t); err != nil {
			return nil, err
		}
	}
	others, otherVersions := divided(theirs)
	all := ordered(h.snapshots, others)
	// The history can have placeholders, of earlier redactions or of sessions from elsewhere.
	if err := m.collect(ctx, &collector{from: m.store.Reader, table: t, seen: map[string]bool{}, marks: true}, all); err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, head := range slices.Concat(h.snapshots, h.versions, theirs) {
		if k := key(head); k != idOf(head) {
			keys[idOf(head)] = k
		}
	}
	ours, ourVersions := h.snapshots, h.versions
	if t.IsEmpty() { // other refs of remotes can have other forms of the same commits
		here := func(head snapshot.CommitHead) bool { return !h.local[idOf(head)] }
		ours, ourVersions = slices.DeleteFunc(slices.Clone(ours), here), slices.DeleteFunc(slices.Clone(ourVersions), here)
	}
	r, err := m.reconcile(ctx, t, scanner, ours, others, keys, accept)
	if err == nil {
		err = m.checkVersions(ctx, r, ourVersions, otherVersions)
	}
	if err != nil {
		return nil, err
	}
	if err := m.collect(ctx, &collector{from: m.store.Reader, table: t, seen: map[string]bool{}}, all); err != nil {
		return nil, err
	}
	walked, names := map[string]string{}, map[string]bool{}
	c := collector{from: m.store.Reader, table: t, seen: map[string]bool{}}
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
	if t.IsEmpty() {
		return w, m.rewritePlain(ctx, w, h, theirs)
	}
	if err := m.rewriteVersions(ctx, w, h.versions, otherVersions); err != nil {
		return nil, err
	}
	return w, m.rewriteAll(ctx, w, r, all, others)
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
func (m *Manager) reconcile(ctx context.Context, t *placeholder.Table, scanner *secrets.Scanner, ours, theirs []snapshot.CommitHead, keys map[string]string,
	accept bool) (*reconciler, error) {
	r := &reconciler{from: m.store.Reader, ours: placeholder.New(scanner, nil), theirs: placeholder.New(scanner, nil), next: t, keys: keys,
		joined: map[string][]byte{}, same: map[string]bool{}, digests: map[string]string{}, accept: accept, pairs: pairs(ours, theirs)}
	if len(r.pairs) == 0 {
		return r, nil
	}
	for side, list := range map[*placeholder.Table][]snapshot.CommitHead{r.ours: ours, r.theirs: theirs} {
		if err := m.collect(ctx, &collector{from: m.store.Reader, table: side, seen: map[string]bool{}}, list); err != nil {
			return nil, err
		}
	}
	for _, head := range theirs {
		p, ok := r.pairs[key(head)]
		if !ok || p.theirs.Info.ID != head.Info.ID {
			continue
		}
		if err := r.check(ctx, p); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// rewriteAll creates the redacted snapshots, parents before their children.
func (m *Manager) rewriteAll(ctx context.Context, w *rewriter, r *reconciler, all, theirs []snapshot.CommitHead) error {
	foreign := map[string]bool{}
	for _, head := range theirs {
		foreign[head.Info.ID] = true
	}
	for _, head := range all {
		p, paired := r.pairs[key(head)]
		switch id := head.Info.ID; {
		case paired && id == p.ours.Info.ID:
			continue // done with their form
		case paired && id != p.theirs.Info.ID:
			return fmt.Errorf("snapshot %.12s: %w: another one replaces the same", id, transfer.ErrNotSame)
		}
		_, moved := w.parents(head.Parents)
		if foreign[head.Info.ID] && !paired && !moved {
			w.done[head.Info.ID] = head.Info.ID
		} else if err := w.snapshot(ctx, head); err != nil {
			return fmt.Errorf("redacting: snapshot %.12s: %w", head.Info.ID, err)
		}
		if paired {
			w.done[p.ours.Info.ID] = w.done[head.Info.ID]
		}
	}
	return nil
}

// rewriteVersions creates the redacted workspace versions. If both sides have a version in
// different forms, it redacts their form; [Manager.checkVersions] has compared the two.
func (m *Manager) rewriteVersions(ctx context.Context, w *rewriter, ours, theirs []snapshot.CommitHead) error {
	both := pairs(ours, theirs)
	foreign := map[string]bool{}
	for _, head := range theirs {
		foreign[head.Version.ID] = true
	}
	full := map[string]snapshot.CommitHead{} // by key
	for _, head := range slices.Concat(ours, theirs) {
		if head.Version.Expired == nil {
			full[key(head)] = head
		}
	}
	for _, head := range ordered(ours, theirs) {
		p, paired := both[key(head)]
		if paired && head.Version.ID == p.ours.Version.ID {
			continue
		}
		from, stub := head, w.stubs[key(head)]
		if stub == nil && head.Version.Expired != nil { // it is needed here
			from = full[key(head)]
		}
		if _, moved := w.parents(head.Parents); foreign[head.Version.ID] && !paired && !moved && sameExpiry(stub, head.Version.Expired) {
			w.done[head.Version.ID] = head.Version.ID
			continue
		}
		v, err := m.store.VersionOrStub(ctx, from.Version.ID)
		if err == nil {
			err = w.version(ctx, from, v)
		}
		if err != nil {
			return fmt.Errorf("redacting: %w", err)
		}
		w.done[head.Version.ID] = w.done[from.Version.ID]
		if paired {
			w.done[p.ours.Version.ID] = w.done[head.Version.ID]
		}
	}
	return nil
}

// checkVersions compares the workspace versions that both sides have in different forms.
func (m *Manager) checkVersions(ctx context.Context, r *reconciler, ours, theirs []snapshot.CommitHead) error {
	for _, p := range pairs(ours, theirs) {
		if r.accept {
			continue
		}
		a, err := m.store.VersionOrStub(ctx, p.ours.Version.ID)
		if err != nil {
			return err
		}
		b, err := m.store.VersionOrStub(ctx, p.theirs.Version.ID)
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
	}
	return nil
}

// checkFiles compares two versions of a resource, which must have the same files with the same
// attributes.
func (m *Manager) checkFiles(ctx context.Context, r *reconciler, a, b string) error {
	if a == b {
		return nil
	}
	return m.store.DiffVersions(ctx, a, b, func(path string, old, now *domarkx.File) error {
		if old == nil || now == nil || old.Type != now.Type || old.Mode != now.Mode {
			return fmt.Errorf("%w: the file %q", transfer.ErrNotSame, path)
		}
		if old.Type != domarkx.Regular && old.Type != domarkx.Symlink || old.ID == now.ID || !r.first(old.ID, now.ID) {
			return nil
		}
		var data [2][]byte
		for i, f := range []*domarkx.File{old, now} {
			c, err := m.store.Content(ctx, f.ID)
			if err != nil {
				return err
			}
			data[i], err = io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
			if err = errors.Join(err, c.Close()); err != nil {
				return err
			}
		}
		_, err := r.text(data[0], data[1], secrets.IsText(data[0]))
		return err
	})
}
