package redact

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Renaming is the new name of a session whose name contains a secret.
type Renaming struct{ From, To string }

// Renamings returns new names for the sessions that share a history with the named one and whose
// names contain secrets. The caller renames the sessions before the redaction.
func (m *Manager) Renamings(ctx context.Context, name string) ([]Renaming, error) {
	if _, err := m.store.Tip(ctx, name); err != nil {
		return nil, err
	}
	t, err := m.newTable(ctx)
	if err != nil {
		return nil, err
	}
	h, err := m.sharing(ctx, name)
	if err != nil {
		return nil, err
	}
	var all []Renaming
	taken := map[string]bool{}
	for _, s := range h.names() {
		to, changed := withoutSecrets(t, s.Name)
		if !changed || s.Kind != refname.Sessions.Noun {
			continue
		}
		if s.Removed {
			return nil, fmt.Errorf("a session in the trash has a name like %q with a secret; restore and redact it, or empty the trash, first", to)
		}
		free := to
		for n := 2; ; n++ {
			_, err := m.store.Tip(ctx, free)
			if errors.Is(err, domarkx.ErrNotFound) && !taken[free] {
				break
			}
			if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
				return nil, err
			}
			free = fmt.Sprintf("%s-%d", to, n)
		}
		taken[free] = true
		all = append(all, Renaming{s.Name, free})
	}
	return all, nil
}

// formerNames returns the former names of sessions that contain secrets, as far as the sessions
// were renamed on this machine.
func (m *Manager) formerNames(ctx context.Context, sessions []Shared) ([]string, error) {
	t, err := m.newTable(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.sessions.Renamings()
	var former []string
	for from, to := range all {
		_, secret := withoutSecrets(t, from)
		if secret && slices.ContainsFunc(sessions, func(s Shared) bool { return s.Kind == refname.Sessions.Noun && s.Name == to.To }) {
			former = append(former, from)
		}
	}
	slices.Sort(former)
	return former, err
}

// withoutSecrets returns a session's name without secrets, and whether it changed.
func withoutSecrets(t *placeholder.Table, name string) (string, bool) {
	text, changed := t.Redact([]byte(name), false)
	if !changed {
		return name, false
	}
	return refname.Map(placeholder.Names(text)), true
}
