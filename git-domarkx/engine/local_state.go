package engine

import "context"

// A LocalState is what this clone records about its sessions, which no document and no
// remote changes. The values of a key are a list of texts without line ends.
type LocalState interface {
	// All returns the values of a key as they are now, also when another process changed
	// them.
	All(ctx context.Context, key string) ([]string, error)
	// Change replaces the values of a key by what change makes of them. No other process
	// changes them meanwhile. The new ones are durable when it returns.
	Change(ctx context.Context, key string, change func(values []string) []string) error
}

// The keys of the local state.
const (
	// trustKey has what the user trusts: the digest of all that runs, and after a space
	// the session for which that was said. The session only bounds how much is kept; trust
	// is in content, whatever its name.
	trustKey = "trust"
	// privateKey has the names of the workspaces that must not work on what others see,
	// though their documents name a path: those of forks.
	privateKey = "private"
	// workspaceKey has the sessions that work in a workspace of another name, each with
	// that after a space.
	workspaceKey = "workspace"
)
