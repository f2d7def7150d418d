package transfer

import "context"

// The states of a session here that is not as on a remote.
const (
	ahead     = "ahead"
	behind    = "behind"
	diverged  = "diverged"
	onlyThere = "only there"
)

// A Divergence is a session that differs between this repository and a remote.
type Divergence struct {
	Name   string
	Remote string
	State  string
}

// Divergences returns the sessions that differ from the remotes as of the last contact.
func (m *Manager) Divergences(ctx context.Context, remotes []string) ([]Divergence, error) {
	here, err := m.here(ctx)
	if err != nil {
		return nil, err
	}
	var all []Divergence
	for _, remote := range remotes {
		tracked, err := m.Tracked(ctx, remote)
		if err != nil {
			return nil, err
		}
		for _, name := range chosen(nil, tracked.Sessions) {
			state, err := compare(ctx, m.store.IsAncestor, here.Sessions[name], tracked.Sessions[name])
			if err == nil && state == "" && here.Workspaces[name] != "" {
				state, err = compare(ctx, m.store.IsEarlier, here.Workspaces[name], tracked.Workspaces[name])
			}
			if err != nil {
				return nil, err
			}
			if state != "" {
				all = append(all, Divergence{name, remote, state})
			}
		}
	}
	return all, nil
}

// compare returns the state of a local tip relative to the tip on a remote, "" if they are the same. within reports
// whether commit a is equal to b or an ancestor of it.
func compare(ctx context.Context, within func(ctx context.Context, a, b string) (bool, error), local, tracked string) (string, error) {
	switch {
	case local == tracked:
		return "", nil
	case local == "":
		return onlyThere, nil
	case tracked == "":
		return ahead, nil
	}
	if is, err := within(ctx, tracked, local); err != nil || is {
		return ahead, err
	}
	if is, err := within(ctx, local, tracked); err != nil || is {
		return behind, err
	}
	return diverged, nil
}

// Outgoing returns all that a push of the sessions sends to an empty remote: the sessions, and the workspaces of the
// sessions' names, those that they work in, and those whose versions their messages link.
func (m *Manager) Outgoing(ctx context.Context, names []string) (map[string]Outgoing, error) {
	here, err := m.here(ctx)
	if err != nil {
		return nil, err
	}
	assigned, err := m.sessions.Attached(ctx)
	if err != nil {
		return nil, err
	}
	chosen := map[string]string{}
	for _, name := range names {
		if here.Sessions[name] != "" {
			chosen[name] = here.Sessions[name]
		}
	}
	going, err := peers{m: m, assigned: assigned, tips: here}.of(ctx, chosen)
	if err != nil {
		return nil, err
	}
	all := map[string]Outgoing{}
	for name, id := range chosen {
		out := Outgoing{Session: name, Tips: []string{id}}
		for _, workspace := range going[name] {
			if id := here.Workspaces[workspace]; id != "" {
				out.Workspaces, out.Tips = append(out.Workspaces, workspace), append(out.Tips, id)
			}
		}
		all[name] = out
	}
	return all, nil
}
