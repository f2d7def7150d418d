package blame

import (
	"context"
	"errors"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

// A survey is what the lookups of one call share.
type survey struct {
	m         *Manager
	book      *book
	sessions  map[string]*session
	attached  map[string]string   // session → workspace in which it works under another name; nil until needed
	histories map[string]*history // by path
}

func (m *Manager) newSurvey(ctx context.Context, many bool) (*survey, error) {
	b, err := m.newBook(ctx, many)
	return &survey{m: m, book: b, sessions: map[string]*session{}, histories: map[string]*history{}}, err
}

// usersOf returns the sessions that are attached to a workspace on this machine.
func (s *survey) usersOf(ctx context.Context, workspace string) ([]string, error) {
	if s.attached == nil {
		var err error
		if s.attached, err = local.Attached(ctx, s.m.state); err != nil {
			return nil, err
		}
	}
	var users []string
	for session, in := range s.attached {
		if in == workspace {
			users = append(users, session)
		}
	}
	slices.Sort(users)
	return users, nil
}

// session loads the newest snapshot of a session. It returns nil if there is none.
func (s *survey) session(ctx context.Context, name string) (*session, error) {
	if known, ok := s.sessions[name]; ok {
		return known, nil
	}
	s.sessions[name] = nil
	tip, err := s.m.store.Tip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state, err := s.m.store.Load(ctx, tip.ID)
	if err != nil {
		return nil, err
	}
	known := &session{Thread: events.NewThread(state.Thread.Live), name: name, byID: map[domarkx.ID]int{}}
	for k, e := range known.Entries {
		known.byID[e.ID] = k
	}
	s.sessions[name] = known
	return known, nil
}
