package redact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// rewritePlain creates the commits of a history in which versions expired. No text changes, so all forms of a commit have the same
// new form: theirs or one of ours, if that needs no change.
func (m *Manager) rewritePlain(ctx context.Context, w *rewriter, h *history, theirs []snapshot.CommitHead) error {
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
	forms := map[string][]snapshot.CommitHead{}
	var first []snapshot.CommitHead // of each commit; versions before snapshots, and parents before their children
	snapshots, versions := divided(theirs)
	for _, head := range slices.Concat(ordered(h.versions, versions), ordered(h.snapshots, snapshots)) {
		if forms[key(head)] == nil {
			first = append(first, head)
		}
		forms[key(head)] = append(forms[key(head)], head)
	}
	for _, head := range first {
		all := forms[key(head)]
		slices.SortStableFunc(all, func(a, b snapshot.CommitHead) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(idOf(a), idOf(b)))
		})
		compared := 1
		for compared < len(all) && rank(all[compared]) < 2 {
			compared++
		}
		now, err := m.newForm(ctx, w, all[:compared], all)
		if err != nil {
			return err
		}
		for _, form := range all {
			w.done[idOf(form)] = now
		}
	}
	return nil
}

// newForm returns the new form of a commit: one of its forms that needs no change, or a new commit. all are further forms;
// one may be the only one with files.
func (m *Manager) newForm(ctx context.Context, w *rewriter, forms, all []snapshot.CommitHead) (string, error) {
	stub := w.stubs[key(forms[0])]
	for _, form := range forms {
		if _, moved := w.parents(form.Parents); !moved && (!form.IsVersion || sameExpiry(stub, form.Version.Expired)) {
			return idOf(form), nil
		}
	}
	from := forms[0]
	if !from.IsVersion {
		if err := w.snapshot(ctx, from); err != nil {
			return "", fmt.Errorf("snapshot %.12s: %w", idOf(from), err)
		}
		return w.done[idOf(from)], nil
	}
	if i := slices.IndexFunc(all, func(h snapshot.CommitHead) bool { return h.Version.Expired == nil }); stub == nil && i >= 0 {
		from = all[i]
	}
	v, err := m.store.VersionOrStub(ctx, idOf(from))
	if err == nil {
		err = w.version(ctx, from, v)
	}
	return w.done[idOf(from)], err
}
