package engine

import (
	"context"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// ListAbout is like [SessionManager.List], and the result, which is not to be changed, also describes each session.
func (m *SessionManager) ListAbout(ctx context.Context) ([]domarkx.Info, error) {
	return m.store.ListAbout(ctx, m.about)
}

// WithAbout returns a snapshot with its description, if that can be read.
func (m *SessionManager) WithAbout(ctx context.Context, info domarkx.Info) domarkx.Info {
	if about, err := m.about(ctx, info); err == nil {
		info.About = about
	}
	return info
}

// about reads the description of a session.
func (m *SessionManager) about(ctx context.Context, info domarkx.Info) (*domarkx.About, error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return nil, err
	}
	front := h.Meta()
	a := &domarkx.About{Agent: m.agentOf(h), Tags: Tags(front), Started: info.Date, Active: info.Date}
	if id, _ := m.identity(h); id.ID != "" {
		if changed := time.Unix(info.Date, 0).UTC(); info.Operation != "import" && changed.UnixMilli() > id.Saved {
			id.UpdatedAt = changed.Format("2006-01-02T15:04:05.000Z")
		}
		a.SourceID, a.SourceCreated, a.SourceUpdated = id.SessionID, id.CreatedAt, id.UpdatedAt
	}
	for _, branch := range transcript.Get(front, "git_branches").Items() {
		if branch.Kind() == jsonvalue.String {
			a.Branch = branch.Text()
		}
	}
	if info.Messages > 0 {
		first, err := m.store.Entry(ctx, info.ID, 0)
		if err != nil {
			return nil, err
		}
		last, err := m.store.Entry(ctx, info.ID, info.Messages-1)
		if err != nil {
			return nil, err
		}
		a.Started, a.Active = first.Date, last.Date
	}
	// Earlier versions made the title of a transcript of its first prompt, whatever that was.
	given := transcript.Text(front, "title")
	said := format.PromptTitle(given)
	if _, isTranscript := front.Get("agent"); given != "" && (!isTranscript || said == format.Title(given)) {
		a.Title = format.Title(given)
		return a, nil
	}
	if a.Title, err = m.promptTitle(ctx, info); a.Title == "" {
		a.Title = said
	}
	return a, err
}

// agentOf returns the program that the header of a session names, or whose identity of a session it states.
func (m *SessionManager) agentOf(h domarkx.Header) string {
	if agent := transcript.Text(h.Meta(), "agent"); agent != "" {
		return agent
	}
	_, agent := m.identity(h)
	return agent
}

// identity returns the identity that a header states, and the name of the format that knows it.
func (m *SessionManager) identity(h domarkx.Header) (format.Identity, string) {
	for _, codec := range m.codecs {
		if codec.Identify == nil {
			continue
		}
		if id := codec.Identify(h); id.ID != "" {
			return id, codec.Name
		}
	}
	return format.Identity{}, ""
}

// Tags returns the tags in front matter: a list, or a text with spaces or commas between them.
func Tags(front jsonvalue.Value) []string {
	tags, _ := front.Get("tags")
	if tags.Kind() == jsonvalue.String {
		return strings.FieldsFunc(tags.Text(), func(r rune) bool { return r == ',' || r == ' ' })
	}
	var list []string
	for _, tag := range tags.Items() {
		if tag.Kind() == jsonvalue.String {
			list = append(list, tag.Text())
		}
	}
	return list
}

// Limits of the search for a title.
const (
	maxTitleEntries = 1000
	maxTitlePrompts = 20
)

// promptTitle returns the title that the first prompts give a session.
func (m *SessionManager) promptTitle(ctx context.Context, info domarkx.Info) (string, error) {
	entries, prompts := 0, 0
	for e, err := range m.store.Entries(ctx, info.ID) {
		if err != nil {
			return "", err
		}
		if entries++; entries > maxTitleEntries || prompts == maxTitlePrompts {
			break
		}
		if e.Role != domarkx.User {
			continue
		}
		prompts++
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return "", err
		}
		if msg.Metadata != nil && transcript.Get(*msg.Metadata, transcript.KeySummary).IsTrue() {
			continue
		}
		var texts []string
		for _, block := range msg.Content {
			texts = append(texts, block.Text)
		}
		if title := format.PromptTitle(strings.Join(texts, "\n\n")); title != "" {
			return title, nil
		}
	}
	return "", nil
}
