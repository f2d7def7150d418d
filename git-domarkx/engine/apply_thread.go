package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/domarkx/domarkx"
)

// thread begins to make the messages of the next state.
func (e *edition) thread(ctx context.Context) (successor, error) {
	base := &domarkx.Thread{}
	if e.base != nil {
		base = &e.base.state.Thread
	}
	edit, same, err := e.align(ctx, base)
	if err != nil {
		return successor{}, err
	}
	if same {
		return successor{live: entriesOf(base.Live), dead: func() []domarkx.Tombstone { return base.Dead }}, nil
	}
	relinked, err := e.relink(base, &edit)
	if err != nil {
		return successor{}, err
	}
	var now domarkx.Entry // the one that was made last
	origin := ""
	next := func(j int) (domarkx.Entry, error) {
		if link := relinked[j]; link != "" {
			now = base.Live[edit.Match[j]]
			now.Link = link
			return now, nil
		}
		msg, err := e.at(j)
		if err != nil {
			return domarkx.Entry{}, err
		}
		now = entryOf(msg, e.date)
		from := edit.Match[j]
		if from < 0 {
			from = edit.Moved[j]
		}
		if from >= 0 {
			if now.Link, err = e.link(ctx, from, msg.Message); err != nil {
				return now, err
			}
		}
		if now.Link == "" {
			now.Link = e.linker.link(msg.Message)
		}
		origin = msg.Origin
		return now, nil
	}
	edit.NewID = func(j int, clock uint32, after domarkx.ID) domarkx.ID {
		switch {
		case edit.Moved[j] >= 0:
			from := base.Live[edit.Moved[j]].ID
			return domarkx.DeriveID(clock, []byte("moved"), from[:], after[:])
		case e.derived && origin != "":
			return originID(clock, after, origin)
		case e.derived:
			return domarkx.DeriveID(clock, after[:], now.JSON.Data, now.Source.Data)
		}
		return e.newID(clock)
	}
	revision := base.Revising(edit, next)
	return successor{live: revision.Live(), dead: revision.Dead, changed: true}, nil
}

func entriesOf(list []domarkx.Entry) iter.Seq2[domarkx.Entry, error] {
	return func(yield func(domarkx.Entry, error) bool) {
		for _, entry := range list {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// align finds out which message of the base each message of the document is, and reports
// whether they are all the same. The messages of a new session are all new.
func (e *edition) align(ctx context.Context, base *domarkx.Thread) (domarkx.Edit, bool, error) {
	n := e.len()
	edit := domarkx.Edit{Same: make([]bool, n)}
	if e.base == nil || len(base.Live) == 0 {
		none := slices.Repeat([]int{-1}, n)
		edit.Match, edit.Moved = none, none
		return edit, e.base != nil && n == 0, nil
	}
	oldKeys := e.keys[1:]
	newKeys := make([]domarkx.Key, n)
	l := likeness{ctx: ctx, edition: e, words: map[int][]uint32{}, roles: make([]domarkx.Role, n)}
	for j := range newKeys {
		msg, err := e.at(j)
		if err != nil {
			return edit, false, err
		}
		newKeys[j], l.roles[j] = layoutKey(msg.Layout), msg.Role
	}
	if slices.Equal(oldKeys, newKeys) && !e.linker.linksMore(base.Live, e.doc) {
		return edit, true, nil
	}
	edit.Alignment = domarkx.Align(oldKeys, newKeys, l.of)
	for j, i := range edit.Match {
		edit.Same[j] = i >= 0 && oldKeys[i] == newKeys[j]
	}
	return edit, false, l.err
}

// relink returns the links of messages that are the same but for that they name something
// that is kept only now. Texts in a conflict stay as they were saved, with their marks, when
// the edit settles the conflict.
func (e *edition) relink(base *domarkx.Thread, edit *domarkx.Edit) (map[int]string, error) {
	links := map[int]string{}
	if e.linker == nil {
		return links, nil
	}
	for j, i := range edit.Match {
		if !edit.Same[j] || base.InConflict(i) || base.Live[i].Link != "" {
			continue
		}
		msg, err := e.at(j)
		if err != nil {
			return nil, err
		}
		if link := e.linker.link(msg.Message); link != "" {
			links[j], edit.Same[j] = link, false
		}
	}
	return links, nil
}

// link returns the workspace version that an edited message keeps: the one it
// had, unless its runnable content changed.
func (e *edition) link(ctx context.Context, from int, now domarkx.Message) (string, error) {
	old := e.base.state.Thread.Live[from]
	if old.Link == "" {
		return "", nil
	}
	was, err := loadMessage(ctx, e.blobs, old)
	if err != nil || !sameRunnable(was, now) {
		return "", err
	}
	return old.Link, nil
}
