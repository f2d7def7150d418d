package edit

import (
	"iter"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// maxShared is the maximum number of shared messages to remember for one document.
const maxShared = 1 << 16

// SharedMessages caches the messages that several conversations of one document share. They are
// read, rendered and stored once, because a transcript can have a thousand branches.
type SharedMessages struct{ Known map[uint64]*SharedMessage }

// A SharedMessage is a message without its content.
type SharedMessage struct {
	entry  domarkx.Entry // its blobs have no id until they are stored
	origin string        // see [domarkx.WrittenMessage]
}

// shares returns message j as cached for another conversation of the document, or nil if it is
// not cached. Message 0 is never cached, because the preview of a session needs its content.
func (e *Edit) shares(j int) *SharedMessage {
	if shared, ok := e.Messages.(format.Shared); ok && e.Shared != nil && j > 0 {
		if key, isShared := shared.Key(j); isShared {
			return e.Shared.Known[key]
		}
	}
	return nil
}

// share caches message j for the other conversations of the document.
func (e *Edit) share(j int, entry domarkx.Entry, origin string) {
	shared, ok := e.Messages.(format.Shared)
	if !ok || e.Shared == nil {
		return
	}
	key, isShared := shared.Key(j)
	known := e.Shared.Known[key]
	if !isShared || known == nil && len(e.Shared.Known) >= maxShared || known != nil && known.entry.JSON.ID != "" {
		return
	}
	entry.JSON.Data, entry.Source.Data = nil, nil
	e.Shared.Known[key] = &SharedMessage{entry, origin}
}

// outline returns the role and the layout of message j.
func (e *Edit) outline(j int) (domarkx.Role, domarkx.Layout, error) {
	if known := e.shares(j); known != nil {
		return known.entry.Role, known.entry.Layout, nil
	}
	msg, err := e.At(j)
	completeMessage(&msg) // provisional: a version that the message states may still become its link
	if err == nil && j > 0 {
		e.share(j, domarkx.Entry{Role: msg.Role, Layout: msg.Layout}, msg.Origin)
	}
	return msg.Role, msg.Layout, err
}

// Sharing caches shared messages as the returned sequence yields them for storage.
func (e *Edit) Sharing(live iter.Seq2[*domarkx.Revised, error]) iter.Seq2[*domarkx.Entry, error] {
	return func(yield func(*domarkx.Entry, error) bool) {
		j := 0
		for m, err := range live {
			if !yield(&m.Entry, err) || err != nil {
				return
			}
			if j > 0 && m.Origin != "" && m.JSON.ID != "" {
				e.share(j, m.Entry, m.Origin)
			}
			j++
		}
	}
}
