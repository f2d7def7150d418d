package chat

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// A Decision is the user's answer to the question whether a call may be made.
type Decision int

// The decisions about a call.
const (
	Stop  Decision = iota // end the turn and leave the call pending, because nobody can be asked
	Allow                 // make the call
	Deny                  // record the call as declined and continue
)

// An Approver decides whether calls may be made.
type Approver interface {
	// Decide decides whether a call of a tool may be made. An error ends the turn and leaves the
	// call pending.
	Decide(ctx context.Context, c turns.PendingCall, tool turns.ToolOffer) (Decision, error)
}

// ApproveAll allows all calls.
type ApproveAll struct{}

// Decide allows the call.
func (ApproveAll) Decide(context.Context, turns.PendingCall, turns.ToolOffer) (Decision, error) {
	return Allow, nil
}

// ApproveReadOnly allows calls of built-in tools that only read, and calls of the tools of MCP
// servers in Listed. It ignores annotations by which servers declare their tools as read-only. It
// asks Else about all other calls.
type ApproveReadOnly struct {
	Listed []string // names of tools of MCP servers, as RESOURCE__TOOL
	Else   Approver // nil stands for [ApproveNone]
}

// Decide decides about a call.
func (a ApproveReadOnly) Decide(ctx context.Context, c turns.PendingCall, tool turns.ToolOffer) (Decision, error) {
	if tool.ReadOnly || tool.Type == "mcp" && slices.Contains(a.Listed, c.Resource+separator+c.Tool) {
		return Allow, nil
	}
	if a.Else == nil {
		return Stop, nil
	}
	return a.Else.Decide(ctx, c, tool)
}

// ApproveNone allows no calls: the first call ends the turn.
type ApproveNone struct{}

// Decide stops the turn.
func (ApproveNone) Decide(context.Context, turns.PendingCall, turns.ToolOffer) (Decision, error) {
	return Stop, nil
}
