package engine

import (
	"bufio"
	"context"
	"sync"

	"github.com/domarkx/domarkx"
)

// Size returns the length of a snapshot in a form. Of JSON it reads only the messages that
// no snapshot before had in common with it: a folder of snapshots is listed with their
// sizes.
func (m *SessionManager) Size(ctx context.Context, id string, form Form) (int64, error) {
	if form == Markdown {
		info, err := m.store.Info(ctx, id)
		return info.Bytes, err
	}
	state, err := m.store.LoadPacked(ctx, id)
	if err != nil {
		return 0, err
	}
	v := &view{blobs: m.store, headers: state.Headers, live: &state.Live, dead: state.Dead}
	s, err := m.snapshot(ctx, id, v)
	if err != nil {
		return 0, err
	}
	var total length
	w := bufio.NewWriter(&total)
	err = snapshotDocument(w, s.header, v.live.Len(), func(k int) error {
		key := s.key(k)
		n, ok := m.lengths.get(key)
		if !ok {
			msg, err := s.message(ctx, k)
			if err != nil {
				return err
			}
			n = len(conversationJSON(msg))
			m.lengths.put(key, n)
		}
		total += length(n)
		return nil
	})
	if err == nil {
		err = w.Flush()
	}
	return int64(total), err
}

// A length counts what is written to it.
type length int64

func (l *length) Write(p []byte) (int, error) {
	*l += length(len(p))
	return len(p), nil
}

// A lengthKey stands for all that a message's JSON in a snapshot depends on.
type lengthKey struct {
	json string // the id of the stored message
	link string // as shown
	side string // of a conflict
}

// maxLengths bounds the messages whose lengths are remembered, twice.
const maxLengths = 1 << 16

// lengths remembers the lengths of messages as JSON: the newest ones, and those before
// that were used since.
type lengths struct {
	mu         sync.Mutex
	young, old map[lengthKey]int
}

func (l *lengths) get(key lengthKey) (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.young[key]
	if !ok {
		if n, ok = l.old[key]; ok {
			l.keep(key, n)
		}
	}
	return n, ok
}

func (l *lengths) put(key lengthKey, n int) {
	if key.json == "" {
		return // not stored: nothing identifies it
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(key, n)
}

func (l *lengths) keep(key lengthKey, n int) {
	if l.young == nil || len(l.young) >= maxLengths {
		l.young, l.old = map[lengthKey]int{}, l.young
	}
	l.young[key] = n
}

// key returns what the JSON of message k depends on.
func (s *shownSnapshot) key(k int) lengthKey {
	e := s.view.live.At(k)
	key := lengthKey{json: e.JSON.ID}
	if s.linked[e.Link] {
		key.link = e.Link
	}
	if domarkx.InConflict(s.view.live, k) {
		key.side = e.Rev.String()
	}
	return key
}
