package observe

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

// recent is the maximum age of a transcript's last message for which the present work tree counts
// as its result.
const recent = time.Minute

// Recorded links the messages of a session that got a new snapshot from a transcript. If no hook
// has reported events of the session, it also takes a version at the end of a turn. at.Late reports whether the transcript
// has grown since the import; the header of the session says what agent, id and directory at has.
func (m *Manager) Recorded(ctx context.Context, name string, at Moment, codecs []format.Codec) error {
	tip, err := m.store.Tip(ctx, name)
	if err != nil || tip.Messages == 0 {
		return err
	}
	at, err = m.momentOf(ctx, tip, at, codecs)
	if err != nil || at.ID == "" || at.Dir == "" {
		return err
	}
	git, err := m.treeAround(ctx, at.Dir)
	if err != nil {
		return nil //nolint:nilerr // it works elsewhere
	}
	t, err := m.lock(ctx, git)
	if err != nil {
		return err
	}
	ended, err := m.recorded(ctx, t, tip, at)
	t.close()
	if err != nil {
		return err
	}
	return m.link(ctx, name, ended)
}

// recorded takes a version if no hook reports the events of the session. It reports whether the
// session's last turn has ended.
func (m *Manager) recorded(ctx context.Context, t *tree, tip domarkx.Info, at Moment) (ended bool, err error) {
	last, ended, err := m.lastMessage(ctx, tip, tip.Messages-1, at.Agent)
	if err != nil {
		return false, err
	}
	s, known := t.Sessions[at.Agent+":"+at.ID]
	if known && s.Hooked {
		if err := m.name(ctx, s, at); err != nil {
			return false, err
		}
		return !s.isOpen(time.Now()), t.save()
	}
	if time.Since(time.Unix(last.Date, 0)) > recent || last.Role == domarkx.Assistant && !ended {
		return ended, nil
	}
	if last.Role == domarkx.User {
		before := true
		if tip.Messages > 1 {
			if _, before, err = m.lastMessage(ctx, tip, tip.Messages-2, at.Agent); err != nil {
				return false, err
			}
		}
		if before { // changes since then are a person's, not those of a turn that was killed
			at.Kind = events.Prompt
		}
	}
	if _, err := m.take(ctx, t, at); err != nil {
		return false, err
	}
	s = t.session(at.Agent + ":" + at.ID)
	s.Hooked, s.Open = false, false // no hook reports the end of an interrupted turn
	return ended, t.save()
}

// lastMessage returns message k and whether a turn can end with it. A turn cannot end with calls.
// It also cannot end with a message that lacks a stop reason if the agent writes that last.
func (m *Manager) lastMessage(ctx context.Context, tip domarkx.Info, k int, agent string) (e domarkx.Entry, ends bool, err error) {
	if e, err = m.store.Entry(ctx, tip.ID, k); err != nil {
		return e, false, err
	}
	msg, err := view.LoadMessage(ctx, m.store, e)
	if err != nil || e.Role != domarkx.Assistant || len(msg.Content) == 0 {
		return e, false, err
	}
	reason, _ := msg.Meta().Get("stop_reason")
	if a, _ := agents.ByName(agent); strings.HasPrefix(reason.Text(), "tool") || a.StatesStop && reason.Text() == "" {
		return e, false, nil
	}
	end := msg.Content[len(msg.Content)-1]
	return e, end.Type != domarkx.CodeBlock || !slices.Contains([]string{toolcall.Language, toolcall.ResultLanguage, thought}, end.Language), nil
}

// thought is the language of blocks with a model's reasoning.
const thought = "thought"

// momentOf returns the end of the session's last turn, from the session's header. Its ID is "" if
// the header does not identify the agent's session.
func (m *Manager) momentOf(ctx context.Context, tip domarkx.Info, at Moment, codecs []format.Codec) (Moment, error) {
	at.Kind = events.Turn
	headers, err := m.store.Header(ctx, tip.ID)
	if err != nil {
		return at, err
	}
	h, err := view.LoadHeader(ctx, m.store, headers[:1])
	if err != nil || h.UserMetadata == nil {
		return at, err
	}
	agent, _ := h.UserMetadata.Get("agent")
	name := agent.Text()
	if name == "" && headers[0].Origin != "" { // formats whose front matter does not name the agent
		origin, err := m.store.Origin(ctx, headers[0].Origin)
		if err != nil {
			return at, err
		}
		name = origin.Format
	}
	codec, ok := format.ByName(codecs, name)
	if !ok || codec.Identify == nil {
		return at, nil
	}
	dir, _ := h.UserMetadata.Get("cwd")
	at.Agent, at.ID, at.Dir = codec.Name, codec.Identify(h).SessionID, dir.Text()
	return at, nil
}
