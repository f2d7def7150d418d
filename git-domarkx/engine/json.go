package engine

import (
	"bufio"
	"bytes"
	"context"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
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
	m.lengths.Lock()
	defer m.lengths.Unlock()
	err = snapshotDocument(w, s.header, v.Live.Len(), func(k int) error {
		key := s.key(k)
		n, ok := m.lengths.known[key]
		if !ok {
			msg, err := s.message(ctx, k)
			if err != nil {
				return err
			}
			n = len(conversationJSON(msg))
			if m.lengths.known == nil || len(m.lengths.known) == maxLengths {
				m.lengths.known = map[lengthKey]int{}
			}
			m.lengths.known[key] = n
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

// maxLengths is the maximum number of lengths that are cached.
const maxLengths = 1 << 17

// lengths caches the lengths of messages as JSON. When it is full, it begins again.
type lengths struct {
	sync.Mutex
	known map[lengthKey]int
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

func (m *SessionManager) writeJSON(ctx context.Context, id string, v *view.View, w *bufio.Writer) error {
	s, err := m.snapshot(ctx, id, v)
	if err != nil {
		return err
	}
	return snapshotDocument(w, s.header, v.Live.Len(), func(k int) error {
		msg, err := s.message(ctx, k)
		if err != nil {
			return err
		}
		_, err = w.Write(conversationJSON(msg))
		return err
	})
}

// A shownSnapshot is a snapshot with the data that is added when it is shown.
type shownSnapshot struct {
	view   *view.View
	header domarkx.Header
	linked map[string]bool // the links that are trustworthy
}

func (m *SessionManager) snapshot(ctx context.Context, id string, v *view.View) (*shownSnapshot, error) {
	info, err := m.store.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &shownSnapshot{view: v}
	if s.linked, err = m.linked(ctx, id, v.Live); err != nil {
		return nil, err
	}
	if s.header, err = v.Header(ctx); err != nil {
		return nil, err
	}
	deriveOwn(&s.header, info)
	return s, nil
}

// message returns message k as it is shown. [shownSnapshot.key] covers everything that affects the result.
func (s *shownSnapshot) message(ctx context.Context, k int) (domarkx.Message, error) {
	msg, err := s.view.Message(ctx, k)
	if err != nil {
		return msg, err
	}
	msg = edit.WithStatedAsMetadata(msg)
	if link := s.view.Live.At(k).Link; s.linked[link] {
		addLink(&msg, link)
	}
	return msg, nil
}

// snapshotDocument writes the JSON object of the specification, one message at a time. Unknown
// members of the header follow the conversation.
func snapshotDocument(w *bufio.Writer, header domarkx.Header, n int, message func(k int) error) error {
	extra := header.Extra
	header.Extra = nil
	head := header.Value().AppendJSON(nil, "", "  ")
	w.Write(bytes.TrimSuffix(head, []byte("\n}")))
	w.WriteString(",\n  \"conversation\": [")
	for k := range n {
		if k > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n    ")
		if err := message(k); err != nil {
			return err
		}
	}
	if n > 0 {
		w.WriteString("\n  ")
	}
	w.WriteByte(']')
	for _, m := range extra {
		w.WriteString(",\n  " + jsonvalue.StringValue(m.Name).JSON() + ": ")
		w.Write(m.Value.AppendJSON(nil, "  ", "  "))
	}
	_, err := w.WriteString("\n}\n")
	return err
}

// conversationJSON returns a message as JSON, indented as in the document.
func conversationJSON(msg domarkx.Message) []byte { return msg.Value().AppendJSON(nil, "    ", "  ") }
