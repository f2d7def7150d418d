package engine

import (
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// List returns all sessions, sorted by name. Sessions that cannot be read are omitted; their errors
// are joined and returned together with the rest.
func (m *SessionManager) List(ctx context.Context) ([]domarkx.Info, error) { return m.store.List(ctx) }

// Agent returns the program from which a session was imported, by the name of its format; "" if it is not known.
func (m *SessionManager) Agent(ctx context.Context, info domarkx.Info) string {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return ""
	}
	return m.agentOf(h)
}

// Log returns the snapshots of a revision, newest first. If the revision does not exist, it yields
// the error of [SessionManager.Resolve].
func (m *SessionManager) Log(ctx context.Context, r Revision) iter.Seq2[domarkx.Info, error] {
	return func(yield func(domarkx.Info, error) bool) {
		info, err := m.Resolve(ctx, r)
		if err != nil {
			yield(domarkx.Info{}, err)
			return
		}
		for old, err := range m.store.History(ctx, info.ID) {
			old.Name = r.Name
			if !yield(old, err) {
				return
			}
		}
	}
}

// A MessageInfo summarizes a message in a log.
type MessageInfo struct {
	K         int
	Role      domarkx.Role
	Date      int64  // when this text was written, in Unix seconds
	Link      string // the linked workspace version; "" for none
	FirstLine string
	ID        domarkx.ID
}

// Messages returns the messages of a revision in order. It reads them one by one. If the revision
// does not exist, it yields the error of [SessionManager.Resolve].
func (m *SessionManager) Messages(ctx context.Context, r Revision) iter.Seq2[MessageInfo, error] {
	return func(yield func(MessageInfo, error) bool) {
		info, err := m.Resolve(ctx, r)
		if err != nil {
			yield(MessageInfo{}, err)
			return
		}
		counts := map[string]bool{"": false} // by link: whether it is trustworthy
		k := 0
		for e, err := range m.store.Entries(ctx, info.ID) {
			at := k
			k++
			if err == nil && r.Message >= 0 && at != r.Message {
				continue
			}
			line, err := m.messageInfo(ctx, info.ID, at, e, counts, err)
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// messageInfo returns the log entry of message k of a snapshot. counts caches which links are trustworthy.
func (m *SessionManager) messageInfo(ctx context.Context, snapshot string, k int, e domarkx.Entry, counts map[string]bool, err error) (MessageInfo, error) {
	if err != nil {
		return MessageInfo{}, err
	}
	if _, known := counts[e.Link]; !known {
		linked, err := m.store.Linked(ctx, snapshot, []string{e.Link})
		if err != nil {
			return MessageInfo{}, err
		}
		counts[e.Link] = linked[e.Link]
	}
	if !counts[e.Link] {
		e.Link = ""
	}
	msg, err := view.LoadMessage(ctx, m.store, e)
	return MessageInfo{K: k, Role: e.Role, Date: e.Date, Link: e.Link, FirstLine: view.FirstLine(msg), ID: e.ID}, err
}

// Before returns the revision of the snapshot before r.
func (r Revision) Before() Revision {
	r.Back++
	return r
}

// String returns the revision in the syntax of the command line.
func (r Revision) String() string {
	s := r.Name
	if r.ID != "" {
		s += "@" + r.ID
	}
	if r.Back > 0 {
		s += fmt.Sprintf("~%d", r.Back)
	}
	if r.Message >= 0 {
		s += fmt.Sprintf("#%d", r.Message)
	}
	return s
}
