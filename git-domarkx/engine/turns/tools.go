package turns

import (
	"context"
	"errors"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// toolsOf returns the tools of a resource. For tools that the resource lists itself, it returns an
// *trust.UntrustedError unless they are trusted or approved.
func (b *openWorkspace) toolsOf(ctx context.Context, resource string) ([]domarkx.Tool, error) {
	tools, own, err := b.live.Tools(ctx, resource)
	if err != nil || !own {
		return tools, err
	}
	i := slices.IndexFunc(b.live.Specs(), func(s domarkx.ResourceSpec) bool { return s.ID == resource })
	listed := trust.ListTools(b.live.Specs()[i], tools)
	if b.passed == nil {
		return nil, listed.Untrusted(b.live.Name())
	}
	return tools, b.passed.CheckTools(ctx, b.session, listed)
}

// admit returns an *trust.UntrustedError if a call must not be made because nobody trusts the tools
// that its resource lists. Other errors are those of the call.
func (b *openWorkspace) admit(ctx context.Context, block domarkx.Block) error {
	asked, err := toolcall.Parse(block.Text)
	if block.Language != toolcall.Language || err != nil {
		return nil
	}
	_, err = b.toolsOf(ctx, asked.Resource)
	var untrusted *trust.UntrustedError
	if errors.As(err, &untrusted) {
		return err
	}
	return nil
}
