package local

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Attached returns the workspaces of sessions that work in a workspace of another name, by
// session.
func Attached(ctx context.Context, state State) (map[string]string, error) {
	values, err := state.All(ctx, WorkspaceKey)
	all := map[string]string{}
	for _, value := range values {
		session, workspace, _ := strings.Cut(value, " ")
		all[session] = workspace
	}
	return all, err
}

// WorkspaceOf returns the name of the workspace that a session works in.
func WorkspaceOf(ctx context.Context, state State, session string) (string, error) {
	all, err := Attached(ctx, state)
	if err != nil {
		return "", err
	}
	return cmp.Or(all[session], session), nil
}

// Renamed records that a session was renamed. It keeps its workspace, and sessions follow that work in a workspace of its name.
// The old name stays, too.
func Renamed(ctx context.Context, state State, from, to string) error {
	return state.Change(ctx, WorkspaceKey, func(values []string) []string {
		var next []string
		for _, value := range values {
			session, workspace, _ := strings.Cut(value, " ")
			if workspace == from {
				workspace = to
			}
			if session == from && workspace != to {
				next = append(next, to+" "+workspace)
			}
			if session != to && session != workspace {
				next = append(next, session+" "+workspace)
			}
		}
		return next
	})
}

// Attach records that a session works in a workspace, or in that of its own name if workspace is
// "".
func Attach(ctx context.Context, state State, session, workspace string) error {
	return state.Change(ctx, WorkspaceKey, func(values []string) []string {
		values = slices.DeleteFunc(values, func(value string) bool { return strings.HasPrefix(value, session+" ") })
		if workspace == "" {
			return values
		}
		return append(values, session+" "+workspace)
	})
}
