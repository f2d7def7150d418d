package turns

import (
	"context"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// complete returns the text of a call's block with the arguments that its resource adds, so that
// the call can be repeated. It returns "" if the resource adds none or the call is invalid.
func (b *openWorkspace) complete(ctx context.Context, block domarkx.Block) string {
	if block.Language != toolcall.Language {
		return ""
	}
	asked, err := toolcall.Parse(block.Text)
	if err != nil {
		return ""
	}
	completed, err := b.live.Defaults(ctx, asked.Resource, asked.Call)
	if err != nil || completed.Arguments.Equal(asked.Arguments) {
		return ""
	}
	v, err := jsonvalue.ParseValue([]byte(block.Text))
	if err != nil {
		return ""
	}
	v = v.With("arguments", completed.Arguments)
	if strings.Contains(strings.TrimSpace(block.Text), "\n") {
		return string(v.AppendJSON(nil, "", "  "))
	}
	return toolcall.JSONLine(v)
}

// outcomeBlocks returns the blocks to insert after a call. If the call was completed, they
// replace it.
func (t callTarget) outcomeBlocks(o toolcall.Outcome) []domarkx.Block {
	if t.Completed != "" {
		return []domarkx.Block{t.Recorded(), o.Block()}
	}
	return []domarkx.Block{o.Block()}
}
