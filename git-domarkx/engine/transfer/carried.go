package transfer

import "context"

// Carried returns the newest commits of the sessions, and of the workspaces that are pushed with them: those of the sessions'
// names, those that they work in, and those whose versions their messages link. The session's own commit comes first.
func (m *Manager) Carried(ctx context.Context, names []string) (map[string][]string, error) {
	sessions, err := m.tips(ctx)
	if err != nil {
		return nil, err
	}
	workspaces, err := m.workspaceTips(ctx)
	if err != nil {
		return nil, err
	}
	assigned, err := m.sessions.Attached(ctx)
	if err != nil {
		return nil, err
	}
	chosen := map[string]string{}
	for _, name := range names {
		if sessions[name] != "" {
			chosen[name] = sessions[name]
		}
	}
	p := peers{m: m, assigned: assigned, workspaces: workspaces, sessions: sessions}
	going := map[string][]string{}
	if len(workspaces) > 0 {
		if going, err = p.of(ctx, chosen); err != nil {
			return nil, err
		}
	}
	tips := map[string][]string{}
	for name, id := range chosen {
		tips[name] = []string{id}
		for _, workspace := range going[name] {
			if id := workspaces[workspace]; id != "" {
				tips[name] = append(tips[name], id)
			}
		}
	}
	return tips, nil
}
