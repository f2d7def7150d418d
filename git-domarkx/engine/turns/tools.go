package turns

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins/permit"
)

// toolsOf returns the tools of a resource. For tools that the resource lists itself, it returns an
// *trust.UntrustedError unless they are trusted or approved.
func (b *openWorkspace) toolsOf(ctx context.Context, resource string) ([]domarkx.Tool, error) {
	tools, own, err := b.live.Tools(ctx, resource)
	if err != nil || !own {
		return tools, err
	}
	specs := b.live.Specs()
	i := slices.IndexFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == resource })
	_, err = b.gate.Permit(ctx, trust.Tools{By: b.permit, Listed: trust.ListTools(specs[i], tools)})
	return tools, err
}

// mayMake returns the permit to make the call or to run the code in a block. by permits the content of the session with
// the block, or the call itself.
func (b *openWorkspace) mayMake(ctx context.Context, by permit.Permit, block domarkx.Block) (permit.Permit, error) {
	return b.gate.Permit(ctx, trust.Call{By: by, In: b.live, Block: block})
}

// make makes the call or runs the code in a block with a permit, unless that was refused.
func (b *openWorkspace) make(ctx context.Context, block domarkx.Block, p permit.Permit, refused error) callResult {
	made := callResult{tool: block.Language, err: refused}
	if block.Language != toolcall.Language {
		if refused == nil {
			made.resource, made.result, made.err = b.live.Run(ctx, p)
		}
		return made
	}
	asked, _ := toolcall.Parse(block.Text) // refused, unless it is valid
	made.resource, made.tool = asked.Resource, asked.Tool
	if refused == nil {
		made.result, made.err = b.live.Call(ctx, p)
	}
	return made
}
