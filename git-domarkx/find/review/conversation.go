package review

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// A spoken is a session with the turn of each message.
type spoken struct {
	Session
	entries []domarkx.Entry
	turns   []int  // message → index of its prompt
	began   string // when the first message with lines was written
}

// converse completes the authors, and adds the sessions with their prompts and commands.
func (m *Manager) converse(ctx context.Context, r *Review, mask *mask) error {
	sessions := map[string]*spoken{}
	models := map[string]int{}
	for i := range r.Files {
		for k := range r.Files[i].Hunks {
			for n := range r.Files[i].Hunks[k].Authors {
				a := &r.Files[i].Hunks[k].Authors[n]
				if a.Source == Model {
					s, err := m.spoken(ctx, sessions, a.Session, mask)
					if err != nil {
						return err
					}
					s.wrote(a)
					a.Session, a.Model = s.Name, mask.text(a.Model)
					models[a.Model] += a.Lines
				}
				a.Name = mask.text(a.Name)
			}
		}
	}
	for model, n := range models {
		r.Models = append(r.Models, Share{model, n})
	}
	slices.SortFunc(r.Models, func(a, b Share) int { return cmp.Or(b.Lines-a.Lines, strings.Compare(a.Model, b.Model)) })
	if err := m.onRemote(ctx, r, sessions); err != nil {
		return err
	}
	r.Remote = mask.text(r.Remote)
	for _, s := range slices.SortedFunc(maps.Values(sessions), func(a, b *spoken) int {
		return strings.Compare(a.began+" "+a.Name, b.began+" "+b.Name)
	}) {
		r.Sessions = append(r.Sessions, s.Session)
	}
	return nil
}

// spoken loads a session once.
func (m *Manager) spoken(ctx context.Context, known map[string]*spoken, name string, mask *mask) (*spoken, error) {
	if s, ok := known[name]; ok {
		return s, nil
	}
	s := &spoken{Session: Session{Name: mask.text(name), Prompts: []Prompt{}}}
	known[name] = s
	tip, err := m.Store.Tip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
		s.Gone = true
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	state, err := m.Store.Load(ctx, tip.ID)
	if err != nil {
		return nil, err
	}
	s.Agent, s.entries = m.Agent(ctx, tip), state.Thread.Live
	return s, s.read(ctx, m, mask)
}

// read reads the prompts of a session, and the commands in their turns.
func (s *spoken) read(ctx context.Context, m *Manager, mask *mask) error {
	s.turns = make([]int, len(s.entries))
	for k, e := range s.entries {
		msg, err := view.LoadMessage(ctx, m.Store, e)
		if err != nil {
			return err
		}
		if e.Role == domarkx.User {
			if text := strings.TrimSpace(markdown.RenderContent(msg.Content)); isPrompt(text) {
				s.Prompts = append(s.Prompts, Prompt{Index: k, Message: e.ID.String(), Date: dateOf(e.Date), Text: mask.text(strings.ToValidUTF8(text, "\uFFFD")), Commands: []Command{}})
			}
		}
		if len(s.Prompts) == 0 && e.Role == domarkx.Assistant {
			s.Prompts = append(s.Prompts, Prompt{Index: -1, Commands: []Command{}})
		}
		if s.turns[k] = len(s.Prompts) - 1; e.Role != domarkx.Assistant {
			continue
		}
		for _, c := range commandsIn(msg, k) {
			c.Message = e.ID.String()
			c.Text = mask.text(strings.ToValidUTF8(c.Text, "\uFFFD"))
			p := &s.Prompts[len(s.Prompts)-1]
			p.Commands = append(p.Commands, c)
		}
	}
	return nil
}

// isPrompt reports whether a user's message asks for something: programs write some in the user's name. A command counts,
// because it may be one of the user's own.
func isPrompt(text string) bool {
	return format.PromptTitle(text) != "" || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "<command-")
}

// wrote notes the lines of an author, and completes the author.
func (s *spoken) wrote(a *Author) {
	s.Lines += a.Lines
	a.Agent = s.Agent
	if k := a.from.Message; k >= 0 && k < len(s.entries) {
		if date := dateOf(s.entries[k].Date); date != "" {
			a.Date = date
		}
		if turn := s.turns[k]; turn >= 0 {
			p := &s.Prompts[turn]
			p.Lines += a.Lines
			if p.Index >= 0 {
				a.PromptAt, a.Prompt = &p.Index, brief(p.Text, maxBrief)
			}
		}
	}
	if s.began == "" || a.Date != "" && a.Date < s.began {
		s.began = a.Date
	}
}

// maxBrief is the length of the beginning of a prompt that is repeated beside a hunk, in characters.
const maxBrief = 200

// brief returns the beginning of a text on one line, at most n characters.
func brief(text string, n int) string {
	cut := text[:min(len(text), 8*n)]
	line := strings.Join(strings.Fields(strings.ToValidUTF8(cut, "")), " ")
	if utf8.RuneCountInString(line) <= n && len(cut) == len(text) {
		return line
	}
	runes := []rune(line)
	return strings.TrimSpace(string(runes[:min(len(runes), n-1)])) + "…"
}

// onRemote says which sessions the remote has.
func (m *Manager) onRemote(ctx context.Context, r *Review, sessions map[string]*spoken) error {
	found, err := remote.Find(ctx, m.Git, "")
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	tips, err := m.Remotes.Tracked(ctx, found.Name)
	if err != nil {
		return err
	}
	r.Remote = found.Name
	for name, s := range sessions {
		if s.Gone {
			continue
		}
		if s.OnRemote, err = m.has(ctx, tips, name); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether a remote had the newest snapshot of a session.
func (m *Manager) has(ctx context.Context, tips transfer.Tips, name string) (bool, error) {
	there, ok := tips.Sessions[name]
	if !ok {
		return false, nil
	}
	tip, err := m.Store.Tip(ctx, name)
	if err != nil || tip.ID == there {
		return err == nil, err
	}
	return m.Store.Reach(ctx, []string{there}, []string{tip.ID})
}
