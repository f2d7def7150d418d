package engine

import (
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// maxShared is the maximum number of shared messages to remember for one document.
const maxShared = 1 << 16

// sharedMessages caches the messages that several conversations of one document share. They are
// read, rendered and stored once, because a transcript can have a thousand branches.
type sharedMessages struct{ known map[uint64]*sharedMessage }

// A sharedMessage is a message without its content.
type sharedMessage struct {
	entry  domarkx.Entry // its blobs have no id until they are stored
	origin string        // see [domarkx.WrittenMessage]
}

// shares returns message j as cached for another conversation of the document, or nil if it is
// not cached. Message 0 is never cached, because the preview of a session needs its content.
func (e *edition) shares(j int) *sharedMessage {
	if shared, ok := e.messages.(format.Shared); ok && e.shared != nil && j > 0 {
		if key, isShared := shared.Key(j); isShared {
			return e.shared.known[key]
		}
	}
	return nil
}

// share caches message j for the other conversations of the document.
func (e *edition) share(j int, entry domarkx.Entry, origin string) {
	shared, ok := e.messages.(format.Shared)
	if !ok || e.shared == nil {
		return
	}
	key, isShared := shared.Key(j)
	known := e.shared.known[key]
	if !isShared || known == nil && len(e.shared.known) >= maxShared {
		return
	}
	entry.JSON.Data, entry.Source.Data = nil, nil
	e.shared.known[key] = &sharedMessage{entry, origin}
}

// outline returns the role and the layout of message j.
func (e *edition) outline(j int) (domarkx.Role, domarkx.Layout, error) {
	if known := e.shares(j); known != nil {
		return known.entry.Role, known.entry.Layout, nil
	}
	msg, err := e.at(j)
	completeMessage(&msg) // provisional: a version that the message states may still become its link
	if err == nil && j > 0 {
		e.share(j, domarkx.Entry{Role: msg.Role, Layout: msg.Layout}, msg.Origin)
	}
	return msg.Role, msg.Layout, err
}

// sharing caches shared messages as the returned sequence yields them for storage.
func (e *edition) sharing(live iter.Seq2[*domarkx.Entry, error]) iter.Seq2[*domarkx.Entry, error] {
	if e.shared == nil {
		return live
	}
	return func(yield func(*domarkx.Entry, error) bool) {
		j := 0
		for entry, err := range live {
			made := e.made
			if !yield(entry, err) || err != nil {
				return
			}
			if made.message == j && j > 0 && made.origin != "" && entry.JSON.ID != "" {
				e.share(j, *entry, made.origin)
			}
			j++
		}
	}
}
