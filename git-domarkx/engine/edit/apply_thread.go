package edit

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// thread prepares the messages of the next state.
func (e *Edit) thread(ctx context.Context) (NextState, error) {
	var base domarkx.Entries = domarkx.EntryList(nil)
	var dead []domarkx.Tombstone
	if e.Base != nil {
		base, dead = e.Base.Live, e.Base.Dead
	}
	edit, same, err := e.Align(ctx, base)
	if err != nil {
		return NextState{}, err
	}
	if same {
		return NextState{Live: all(base), Dead: func() []domarkx.Tombstone { return dead }}, nil
	}
	relinked, err := e.relink(base, &edit)
	if err != nil {
		return NextState{}, err
	}
	next := func(j int) (domarkx.Revised, error) {
		if link := relinked[j]; link != "" {
			now := domarkx.Revised{Entry: base.At(edit.Match[j])}
			now.Link = e.NoteLink(link)
			return now, nil
		}
		from := edit.Match[j]
		if from < 0 {
			from = edit.Moved[j]
		}
		if known := e.shares(j); known != nil && from < 0 && known.entry.JSON.ID != "" {
			now := domarkx.Revised{Entry: known.entry, Origin: known.origin}
			if now.Link = ""; known.origin == "" {
				now.Date = e.Date
			}
			return now, nil
		}
		msg, err := e.At(j)
		if err != nil {
			return domarkx.Revised{}, err
		}
		now := domarkx.Revised{Entry: EntryOf(msg, e.DateOf(msg)), Origin: msg.Origin}
		if from >= 0 {
			if now.Link, err = e.link(ctx, from, msg.Message); err != nil {
				return now, err
			}
		}
		switch runsOtherwise := from >= 0 && base.At(from).Link != ""; {
		case now.Link != "":
		case runsOtherwise: // the stated version belongs to the message's earlier calls
			now.Link = e.NoteLink(e.Linker.link(msg.Message))
		default:
			now.Link = e.NoteLink(e.linkFor(j, msg.Message))
		}
		if now.Link != "" && now.Link == e.moved[j] { // shown with the link, so it is not stored
			link := now.Link
			plain := domarkx.WrittenMessage{Message: withoutStatedMetadata(msg.Message)}
			completeMessage(&plain)
			now.Entry = EntryOf(plain, e.DateOf(msg))
			now.Link = link
		}
		return now, nil
	}
	edit.NewID = func(j int, now domarkx.Revised, clock uint32, after domarkx.ID) domarkx.ID {
		switch {
		case edit.Moved[j] >= 0:
			from := base.At(edit.Moved[j]).ID
			return domarkx.DeriveID(clock, []byte("moved"), from[:], after[:])
		case e.Derived && now.Origin != "":
			return OriginID(clock, after, now.Origin)
		case e.Derived:
			return domarkx.DeriveID(clock, after[:], now.JSON.Data, now.Source.Data)
		}
		return e.NewID(clock)
	}
	revision := domarkx.Revising(base, dead, edit, next)
	return NextState{Live: revision.Live(), Dead: revision.Dead, Changed: true}, nil
}

func all(entries domarkx.Entries) iter.Seq2[domarkx.Revised, error] {
	return func(yield func(domarkx.Revised, error) bool) {
		for k := range entries.Len() {
			if !yield(domarkx.Revised{Entry: entries.At(k)}, nil) {
				return
			}
		}
	}
}

// Align matches the messages of the document to those of the base, and reports whether they are
// identical. All messages of a new session are new.
func (e *Edit) Align(ctx context.Context, base domarkx.Entries) (domarkx.Edit, bool, error) {
	n := e.Len()
	edit := domarkx.Edit{Same: make([]bool, n)}
	if e.Base == nil || base.Len() == 0 {
		none := slices.Repeat([]int{-1}, n)
		edit.Match, edit.Moved = none, none
		return edit, e.Base != nil && n == 0, nil
	}
	oldKeys := e.Keys[1:]
	if err := e.Scan(); err != nil {
		return edit, false, err
	}
	newKeys := make([]domarkx.Key, n)
	for j, msg := range e.Scanned {
		newKeys[j] = msg.Key
	}
	l := similarity{ctx: ctx, edition: e, words: map[int][]uint32{}}
	if slices.Equal(oldKeys, newKeys) {
		if more, err := e.LinksMore(base); !more || err != nil {
			return edit, err == nil, err
		}
	}
	edit.Alignment = domarkx.Align(oldKeys, newKeys, l.of)
	for j, i := range edit.Match {
		edit.Same[j] = i >= 0 && oldKeys[i] == newKeys[j]
	}
	if err := errors.Join(l.err, e.moveEqual(ctx, base, &edit)); err != nil {
		return edit, false, err
	}
	var err error
	edit.Joined, err = e.joined(ctx, base, edit)
	return edit, false, err
}

// moveEqual finds messages that were moved and have equal content but different bytes. Blank
// lines differ at the end of a document, so a move to or from there changes the bytes. If such a
// message were not recognized, it would lose its link, and stand twice after a merge with the same move.
func (e *Edit) moveEqual(ctx context.Context, base domarkx.Entries, edit *domarkx.Edit) error {
	if !slices.Contains(edit.Match, -1) {
		return nil
	}
	taken := map[int]bool{}
	for _, i := range slices.Concat(edit.Match, edit.Moved) {
		taken[i] = true
	}
	removed := map[[sha256.Size]byte][]int{} // keyed by a hash of the content, which may be a gigabyte
	for i := range base.Len() {
		if old := base.At(i); !taken[i] && !domarkx.InConflict(base, i) {
			data, err := view.Read(ctx, e.Blobs, old.JSON)
			if err != nil {
				return err
			}
			said := sha256.Sum256(data)
			removed[said] = append(removed[said], i)
		}
	}
	for j, i := range edit.Match {
		if len(removed) == 0 || i >= 0 || edit.Moved[j] >= 0 {
			continue
		}
		msg, err := e.At(j)
		if err != nil {
			return err
		}
		said := sha256.Sum256(EntryOf(msg, e.Date).JSON.Data)
		if from := removed[said]; len(from) > 0 {
			edit.Moved[j], removed[said] = from[0], from[1:]
		}
	}
	return nil
}

// DateOf returns the date of a new text: the one that its document states, or that of the edit.
func (e *Edit) DateOf(m domarkx.WrittenMessage) int64 {
	if m.Origin != "" && m.Date > 0 {
		return m.Date
	}
	return e.Date
}

// relink returns the links of messages that are otherwise unchanged but name something that is kept only now. Texts in a
// conflict stay as they were saved, including the conflict markers, even if this edit resolves the conflict.
func (e *Edit) relink(base domarkx.Entries, edit *domarkx.Edit) (map[int]string, error) {
	links := map[int]string{}
	if e.Linker == nil && e.Stated == nil {
		return links, nil
	}
	for j, i := range edit.Match {
		if !edit.Same[j] || domarkx.InConflict(base, i) || base.At(i).Link != "" {
			continue
		}
		msg, err := e.At(j)
		if err != nil {
			return nil, err
		}
		if link := e.linkFor(j, msg.Message); link != "" {
			links[j], edit.Same[j] = link, false
		}
	}
	return links, nil
}

// link returns the workspace version that an edited message keeps. The message keeps its old
// version unless its runnable content changed.
func (e *Edit) link(ctx context.Context, from int, now domarkx.Message) (string, error) {
	old := e.Base.Live.At(from)
	if old.Link == "" {
		return "", nil
	}
	was, err := view.LoadMessage(ctx, e.Blobs, old)
	if err != nil || !toolcall.SameRunnable(was, now) {
		return "", err
	}
	return old.Link, nil
}
