package engine

import (
	"bufio"
	"context"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Size returns the length in bytes of a snapshot in a form. For JSON, it caches the lengths of
// messages, so that listing a directory of snapshots reads each message only once.
func (m *SessionManager) Size(ctx context.Context, id string, form Form) (int64, error) {
	if form == Markdown {
		info, err := m.store.Info(ctx, id)
		return info.Bytes, err
	}
	state, err := m.store.LoadPacked(ctx, id)
	if err != nil {
		return 0, err
	}
	v := &view.View{Blobs: m.store, Headers: state.Headers, Live: &state.Live, Dead: state.Dead}
	s, err := m.snapshot(ctx, id, v)
	if err != nil {
		return 0, err
	}
	var total length
	w := bufio.NewWriter(&total)
	err = snapshotDocument(w, s.header, v.Live.Len(), func(k int) error {
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

// A length counts the bytes written to it.
type length int64

func (l *length) Write(p []byte) (int, error) {
	*l += length(len(p))
	return len(p), nil
}

// A lengthKey identifies everything that a message's JSON in a snapshot depends on.
type lengthKey struct {
	json string // id of the stored message
	link string // the workspace version as shown; "" for none
	side string // the side of a conflict; "" for none
}

// maxLengths is the maximum size of each of the two maps in lengths.
const maxLengths = 1 << 16

// lengths caches the lengths of messages as JSON. When young is full, it becomes old, and entries
// of old survive only if they are used.
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
		return // without a stored blob, nothing identifies the message
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

// key returns the key for the JSON length of message k.
func (s *shownSnapshot) key(k int) lengthKey {
	e := s.view.Live.At(k)
	key := lengthKey{json: e.JSON.ID}
	if s.linked[e.Link] {
		key.link = e.Link
	}
	if domarkx.InConflict(s.view.Live, k) {
		key.side = e.Rev.String()
	}
	return key
}
