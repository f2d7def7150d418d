package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Pages returns a snapshot as it is shown in a browser.
func (m *SessionManager) Pages(ctx context.Context, r Revision) (html.Session, domarkx.Info, error) {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return html.Session{}, info, err
	}
	v, err := view.Load(ctx, m.store, info.ID)
	if err != nil {
		return html.Session{}, info, err
	}
	header, err := v.Header(ctx)
	if err != nil {
		return html.Session{}, info, err
	}
	linked, err := m.linked(ctx, info.ID, v.Live)
	if err != nil {
		return html.Session{}, info, err
	}
	p := html.Session{Name: r.Name, Snapshot: info.ID, Header: header, Messages: shownMessages{ctx, v}, File: m.attachedFile(ctx, info), Version: func(k int) string {
		if link := v.Live.At(k).Link; linked[link] {
			return link
		}
		return ""
	}, Size: func(k int) int64 { return v.Layout(k + 1).Size }}
	if r.Message >= 0 {
		if r.Message >= p.Messages.Len() {
			return html.Session{}, info, fmt.Errorf("%s: %w: the snapshot has %d messages", r, domarkx.ErrNotFound, p.Messages.Len())
		}
		p.Messages = oneMessage{p.Messages, r.Message}
	}
	return p, info, nil
}

// oneMessage is a list of one message of another list.
type oneMessage struct {
	all format.Messages
	k   int
}

func (oneMessage) Len() int { return 1 }

func (o oneMessage) At(int) (domarkx.WrittenMessage, error) { return o.all.At(o.k) }
