// Package local stores a clone's records of its sessions on this machine: which of them the
// user trusts, which workspaces belong to forks, and which sessions work in another workspace.
package local

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// A State stores what this clone records about its sessions. Documents and remotes cannot
// change it. The value of a key is a list of strings without line breaks.
type State interface {
	// All returns the current values of a key, including changes by other processes.
	All(ctx context.Context, key string) ([]string, error)
	// Change replaces the values of a key by the result of change. It excludes changes by other
	// processes. The new values are durable when it returns.
	Change(ctx context.Context, key string, change func(values []string) []string) error
}

// The keys of the local state.
const (
	// TrustKey holds the digests that the user trusts: each value is the digest of everything
	// that a session runs, a space, and the session. Trust applies to the content, regardless of
	// the session's name. The session only limits how many digests are kept.
	TrustKey = "trust"
	// ToolsKey holds the lists of tools that the user trusts: each value is the digest of a
	// resource's config, that of the config with the tools, and the session, separated by spaces.
	ToolsKey = "tools"
	// PrivateKey holds the workspaces of forks. They must not work in the paths that their
	// documents name, because others use those.
	PrivateKey = "private"
	// WorkspaceKey holds the sessions that work in a workspace of another name: the session, a space, and the workspace.
	WorkspaceKey = "workspace"
)

// Attached returns the workspaces of sessions that work in a workspace of another name, by session.
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

// Attach records that a session works in a workspace, or in that of its own name if workspace is "".
func Attach(ctx context.Context, state State, session, workspace string) error {
	return state.Change(ctx, WorkspaceKey, func(values []string) []string {
		values = slices.DeleteFunc(values, func(value string) bool { return strings.HasPrefix(value, session+" ") })
		if workspace == "" {
			return values
		}
		return append(values, session+" "+workspace)
	})
}

// Environment holds what the managers of sessions need besides the store.
type Environment struct {
	StateDir string // private, machine-local files; created on first use
	WorkTree string // "" in a bare repository
	Identity func(ctx context.Context) (author, committer domarkx.Signature, err error)

	Workspaces *plugins.WorkspaceManager // manages the live workspaces on this machine
	Local      State
	Warn       func(error) // receives each problem that an operation skips; nil ignores them
}
