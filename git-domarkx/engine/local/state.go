// Package local stores a clone's records of its sessions on this machine: which of them the
// user trusts, which workspaces belong to forks, and which sessions work in another workspace.
package local

import "context"

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
	// WorkspaceKey holds the sessions that work in a workspace of another name: the session, a
	// space, and the workspace.
	WorkspaceKey = "workspace"
)
