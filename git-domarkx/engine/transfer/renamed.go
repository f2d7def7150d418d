package transfer

import "context"

// renamedHere reports whether a session was renamed here after it contained snapshot id.
func (m *Manager) renamedHere(ctx context.Context, name, id string) (bool, error) {
	all, err := m.sessions.Renamings()
	if err != nil || all[name].Tip == "" {
		return false, err
	}
	now, err := m.sessions.InPlaceOf(all[name].Tip)
	if err != nil {
		return false, err
	}
	for _, tip := range []string{all[name].Tip, now} {
		if held, err := m.store.IsAncestor(ctx, id, tip); held && err == nil { // on error, gc may have removed the tip
			return true, nil
		}
	}
	return false, nil
}

// withNewNames adds the new names of sessions that were renamed here to names.
func (m *Manager) withNewNames(names []string, local map[string]string) ([]string, error) {
	all, err := m.sessions.Renamings()
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		seen[name] = true
	}
	for _, name := range names {
		for local[name] == "" && all[name].To != "" && !seen[all[name].To] {
			name = all[name].To // it may have been renamed several times
			seen[name] = true
			if local[name] != "" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
