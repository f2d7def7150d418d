package sessions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// renameSession renames a session, or makes its content the next snapshot of the session
// that has the new name.
func (t *Tree) renameSession(ctx context.Context, from, to string, c basis.Caller) error {
	// The kernel may know a file that shows the same snapshot. Now that the tree has the session, the file that is
	// moved has a generation of its own, so that the kernel looks the new name up as another file.
	a, b := t.session(from), t.session(to)
	f, was, err := t.shows(ctx, from)
	if err == nil && f == nil {
		err = domarkx.ErrNotFound
	}
	if err != nil {
		return err
	}
	other, there, err := t.shows(ctx, to)
	if err != nil {
		return err
	}
	stored := was.ID != ""
	if stored {
		t.finish(a) // saves belong to the session before it is renamed
	}
	removing := false
	t.state.Do(func(*state) { removing = b.removal != nil && b.removal.removing })
	if removing {
		t.finish(b)
	}
	// The store checks the new name of a stored session, because it knows that the old
	// name becomes free.
	if isNew := removing || other == nil && there.ID == ""; isNew && !stored {
		if err := t.checkNew(ctx, to); err != nil {
			return err
		}
	}
	if err := t.pin(ctx, f); err != nil {
		return err
	}
	defer t.unpin(f)

	t.freeze(a, b)
	defer t.thaw(a, b)
	tipA, errA := t.tip(ctx, from)
	tipB, errB := t.tip(ctx, to)
	if err := cmp.Or(errA, errB); err != nil {
		return err
	}
	move := false
	err = t.state.Try(func(st *state) error {
		switch {
		case st.shown(from, tipA) != f:
			return domarkx.ErrConflict
		case a.failing():
			return fmt.Errorf("renaming %q: %w: its last save is not stored yet", from, syscall.EAGAIN)
		}
		// If b has a save that is not stored yet, the content of a replaces it.
		move = tipA.ID != "" && tipB.ID == "" && len(b.queue) == 0 && (b.file == nil || !b.file.local())
		return nil
	})
	switch {
	case err != nil:
		return err
	case move:
		return t.move(ctx, a, b, f)
	}
	return t.replace(a, b, f, tipA, tipB, c)
}

// move renames a stored session. Both sessions must be frozen.
func (t *Tree) move(ctx context.Context, a, b *sessionState, f *File) error {
	if err := t.Saver.Rename(ctx, a.name, b.name); err != nil {
		return err
	}
	var moved []drafts.Draft
	t.state.Do(func(st *state) {
		st.hide(a, nil)
		if b.removal != nil {
			st.takeBack(b)
		}
		f.name = b.name
		st.show(b, f)
		st.seen.Forget(a.name)
		st.seen.Forget(b.name)
		st.changedIn(pathOf(a.name), true)
		st.changedIn(pathOf(b.name), false)
		for _, tr := range a.saveErrors {
			if tr.State != failing {
				moved = append(moved, tr.draft(b.name, tr.version.Base()))
			}
		}
		b.saveErrors, a.saveErrors = append(b.saveErrors, a.saveErrors...), nil
	})
	if err := t.record(moved...); err != nil {
		t.Logger.Error("updating the journal", "session", b.name, "err", err)
	}
	return nil
}

// replace makes the content of session a the next snapshot of session b, and removes a.
// Both must be frozen.
func (t *Tree) replace(a, b *sessionState, f *File, tipA, tipB domarkx.Info, c basis.Caller) error {
	var g *pendingRemoval
	t.state.Do(func(st *state) {
		st.show(a, f)
		g = &pendingRemoval{tip: tipA.ID, version: f.version}
	})
	if err := t.become(b, f, tipB, c); err != nil {
		return err
	}
	leave := func(st *state) {
		st.hide(a, g)
		f.links--
		st.show(b, f)
		st.changedIn(pathOf(a.name), true)
	}
	if err := t.beginRemoval(a, g, leave); err != nil {
		t.Logger.Error("removing a session that was renamed", "session", a.name, "err", err)
		t.state.Do(leave)
	}
	return nil
}

// renameDirectory renames a directory with its contents, one session at a time. If one fails,
// the sessions before it keep their new names.
func (t *Tree) renameDirectory(ctx context.Context, d *Directory, newPath string, target *Directory, c basis.Caller) error {
	oldPath := d.path
	switch {
	case newPath == oldPath:
		return nil
	case strings.HasPrefix(newPath, oldPath+"/"):
		return syscall.EINVAL
	case strings.HasSuffix(newPath, Extension):
		return fmt.Errorf("directory %q: %w: only sessions end in %s", newPath, domarkx.ErrInvalid, Extension)
	}
	if target != nil {
		err := t.withList(ctx, newPath+"/", func(st *state, infos []domarkx.Info) error {
			if len(st.list(newPath+"/", infos)) > 0 {
				return syscall.ENOTEMPTY
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	below, newBelow := oldPath+"/", newPath+"/"
	turns := hidden(below) != hidden(newBelow) // sessions would become scratch, or scratch would become sessions
	sessions := map[string]bool{}
	err := t.withList(ctx, below, func(st *state, infos []domarkx.Info) error {
		for _, info := range infos {
			if st.shown(info.Name, info) != nil {
				sessions[info.Name] = true
			}
		}
		for name, s := range st.sessions {
			if s.file != nil && s.file.local() && strings.HasPrefix(name, below) {
				sessions[name] = true
			}
		}
		for p := range st.files {
			if _, isSession := SessionOf(newBelow + strings.TrimPrefix(p, below)); isSession && strings.HasPrefix(p, below) {
				return syscall.EXDEV
			}
		}
		if turns && len(sessions) > 0 {
			return syscall.EXDEV // mv(1) then copies and removes
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		if err := t.renameSession(ctx, name, newBelow+strings.TrimPrefix(name, below), c); err != nil {
			return err
		}
	}
	var moved []*File
	t.state.Do(func(st *state) {
		st.forgetDirectory(newPath)
		for p, f := range maps.Clone(st.files) {
			if rest, ok := strings.CutPrefix(p, below); ok {
				delete(st.files, p)
				st.files[newBelow+rest] = f
				moved = append(moved, f)
			}
		}
		for p, sub := range maps.Clone(st.directories) {
			if rest, ok := strings.CutPrefix(p+"/", below); ok {
				delete(st.directories, p)
				sub.path = strings.TrimSuffix(newBelow+rest, "/")
				st.directories[sub.path] = sub
			}
			sub.witness = ""
		}
		d.made = true
		st.changedIn(oldPath, true)
		st.changedIn(newPath, false)
	})
	return t.keepFiles(moved...)
}
