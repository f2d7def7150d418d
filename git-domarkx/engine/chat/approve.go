package chat

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// A Decision is what the user says about a call.
type Decision int

// The decisions.
const (
	Stop  Decision = iota // nobody can be asked: the call stays pending
	Allow                 // the call is made
	Deny                  // the call is recorded as declined, and the model goes on
)

// An Approver decides about calls.
type Approver interface {
	// Decide decides about a call of a tool. The error of a call that cannot be decided ends the
	// turn, and the call stays pending.
	Decide(ctx context.Context, c turns.PendingCall, tool turns.ToolOffer) (Decision, error)
}

// ApproveAll allows all calls.
type ApproveAll struct{}

// Decide allows the call.
func (ApproveAll) Decide(context.Context, turns.PendingCall, turns.ToolOffer) (Decision, error) {
	return Allow, nil
}

// ApproveReadOnly allows calls of built-in tools that only read, and of the tools of MCP servers
// in Listed. What a server says about its tools does not count. It asks Else about all others.
type ApproveReadOnly struct {
	Listed []string // RESOURCE__TOOL
	Else   Approver // nil stops the turn
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

// ApproveNone allows no call: the turn stops at the first one.
type ApproveNone struct{}

// Decide stops the turn.
func (ApproveNone) Decide(context.Context, turns.PendingCall, turns.ToolOffer) (Decision, error) {
	return Stop, nil
}
