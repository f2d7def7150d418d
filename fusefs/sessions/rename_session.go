package sessions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// renameSession renames a session, or makes its content the next snapshot of the session
// that has the new name.
func (t *Tree) renameSession(ctx context.Context, from, to string, c Caller) error {
	tips, err := t.lockWithTips(ctx, from, to)
	if err != nil {
		return err
	}
	f := t.shown(from, tips[0])
	if f == nil {
		t.mu.Unlock()
		return domarkx.ErrNotFound
	}
	t.register(f)
	new := t.shown(to, tips[1]) == nil && tips[1].ID == ""
	if tips[0].ID != "" {
		t.finish(t.session(from)) // saves belong to the session before it is renamed
	}
	if s := t.sessions[to]; s != nil && s.removal != nil && s.removal.removing {
		t.finish(s)
		new = true
	}
	t.mu.Unlock()
	// The store checks the new name of a stored session, because it knows that the old
	// name becomes free.
	if new && tips[0].ID == "" {
		if err := t.checkNew(ctx, to); err != nil {
			return err
		}
	}
	if err := t.pin(ctx, f); err != nil {
		return err
	}
	defer t.unpin(f)

	t.mu.Lock()
	a, b := t.session(from), t.session(to)
	t.freeze(a, b)
	defer t.mu.Unlock()
	defer t.thaw(a, b)
	t.mu.Unlock()
	tipA, errA := t.tip(ctx, from)
	tipB, errB := t.tip(ctx, to)
	t.mu.Lock()
	switch {
	case errA != nil:
		return errA
	case errB != nil:
		return errB
	case t.shown(from, tipA) != f:
		return domarkx.ErrConflict
	case a.failing():
		return fmt.Errorf("renaming %q: %w: its last save is not stored yet", from, syscall.EAGAIN)
	case tipA.ID != "" && tipB.ID == "" && (b.file == nil || !b.file.local()):
		return t.move(ctx, a, b, f)
	}
	return t.replace(a, b, f, tipA, tipB, c)
}

// tip returns the newest snapshot of a session. The ID is empty if the session does not
// exist.
func (t *Tree) tip(ctx context.Context, name string) (domarkx.Info, error) {
	tips, err := t.lockWithTips(ctx, name)
	if err != nil {
		return domarkx.Info{}, err
	}
	t.mu.Unlock()
	return tips[0], nil
}

// move renames a stored session. Both sessions must be frozen.
func (t *Tree) move(ctx context.Context, a, b *sessionState, f *File) error {
	t.mu.Unlock()
	err := t.Saver.Rename(ctx, a.name, b.name)
	t.mu.Lock()
	if err != nil {
		return err
	}
	t.hide(a, nil)
	if b.removal != nil {
		t.takeBack(b)
	}
	f.name = b.name
	t.show(b, f)
	t.seen.forget(a.name)
	t.seen.forget(b.name)
	t.changedIn(pathOf(a.name), true)
	t.changedIn(pathOf(b.name), false)
	var moved []drafts.Draft
	for _, tr := range a.saveErrors {
		if tr.State != failing {
			moved = append(moved, tr.draft(b.name, tr.version.base()))
		}
	}
	b.saveErrors, a.saveErrors = append(b.saveErrors, a.saveErrors...), nil
	t.mu.Unlock()
	if err := t.record(moved...); err != nil {
		t.Logger.Error("updating the journal", "session", b.name, "err", err)
	}
	t.mu.Lock()
	return nil
}

// replace makes the content of session a the next snapshot of session b, and removes a.
// Both must be frozen.
func (t *Tree) replace(a, b *sessionState, f *File, tipA, tipB domarkx.Info, c Caller) error {
	t.show(a, f)
	g := &pendingRemoval{tip: tipA.ID, version: f.version}
	if err := t.become(b, f, tipB, c); err != nil {
		return err
	}
	if err := t.startRemoval(a, g); err != nil {
		t.Logger.Error("removing a session that was renamed", "session", a.name, "err", err)
	}
	t.hide(a, g)
	f.links--
	t.show(b, f)
	t.changedIn(pathOf(a.name), true)
	return nil
}

// renameDirectory renames a directory with its contents, one session at a time. If one fails,
// the sessions before it keep their new names.
func (t *Tree) renameDirectory(ctx context.Context, d *Directory, newPath string, target *Directory, c Caller) error {
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
		infos, err := t.lockWithList(ctx, newPath+"/")
		if err != nil {
			return err
		}
		full := len(t.list(newPath+"/", infos)) > 0
		t.mu.Unlock()
		if full {
			return syscall.ENOTEMPTY
		}
	}
	below, newBelow := oldPath+"/", newPath+"/"
	infos, err := t.lockWithList(ctx, below)
	if err != nil {
		return err
	}
	sessions := map[string]bool{}
	for _, info := range infos {
		if t.shown(info.Name, info) != nil {
			sessions[info.Name] = true
		}
	}
	for name, s := range t.sessions {
		if s.file != nil && s.file.local() && strings.HasPrefix(name, below) {
			sessions[name] = true
		}
	}
	turns := hidden(below) != hidden(newBelow) // sessions would become scratch, or scratch would become sessions
	for p := range t.files {
		if _, isSession := SessionOf(newBelow + strings.TrimPrefix(p, below)); isSession && strings.HasPrefix(p, below) {
			t.mu.Unlock()
			return syscall.EXDEV
		}
	}
	t.mu.Unlock()
	if turns && len(sessions) > 0 {
		return syscall.EXDEV // mv(1) then copies and removes
	}
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		if err := t.renameSession(ctx, name, newBelow+strings.TrimPrefix(name, below), c); err != nil {
			return err
		}
	}
	t.mu.Lock()
	var moved []*File
	t.forgetDirectory(newPath)
	for p, f := range maps.Clone(t.files) {
		if rest, ok := strings.CutPrefix(p, below); ok {
			delete(t.files, p)
			t.files[newBelow+rest] = f
			moved = append(moved, f)
		}
	}
	for p, sub := range maps.Clone(t.directories) {
		if rest, ok := strings.CutPrefix(p+"/", below); ok {
			delete(t.directories, p)
			sub.path = strings.TrimSuffix(newBelow+rest, "/")
			t.directories[sub.path] = sub
		}
		sub.witness = ""
	}
	d.made = true
	t.changedIn(oldPath, true)
	t.changedIn(newPath, false)
	t.mu.Unlock()
	return t.keepFiles(moved...)
}
