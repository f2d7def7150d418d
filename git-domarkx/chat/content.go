package chat

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// The languages of code blocks that are not plain code.
const (
	toolCall   = "tool-call"
	toolResult = "tool-result"
	thought    = "thought"
)

// reserved are words in the info string of a code fence that give the block a special meaning in a
// document. Text from a model must not get such a meaning.
var reserved = []string{toolCall, toolResult, thought, "workspace-config", "session-config", "setup-script", "msg-metadata",
	"domarkx-message", "domarkx-snapshot"}

// Foreign returns text from a model, a tool or a file as the content of a message. Fenced code
// becomes code blocks. If a fence has a special meaning, such as that of a call or a configuration,
// Foreign returns the whole text as a single text block.
func Foreign(text string) []domarkx.Block {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	blocks, err := markdown.ParseContent(text)
	if err != nil || hasReservedFence(text) || slices.ContainsFunc(blocks, hasMeaning) {
		return []domarkx.Block{{Type: domarkx.TextBlock, Text: strings.Trim(text, "\r\n")}}
	}
	return blocks
}

func hasMeaning(b domarkx.Block) bool {
	return b.Type == domarkx.CodeBlock && (b.HasName || len(b.Extra) > 0 || isReserved(b.Language))
}

// hasReservedFence reports whether any line may begin a code block with a special meaning, at any
// nesting depth.
func hasReservedFence(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t>*+-0123456789.)")
		if (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")) && isReserved(line) {
			return true
		}
	}
	return false
}

// isReserved reports whether an info string gives a code block a special meaning.
func isReserved(info string) bool {
	info = strings.ToLower(info)
	return strings.Contains(info, "name=") || slices.ContainsFunc(reserved, func(w string) bool { return strings.Contains(info, w) })
}

// content returns the blocks of an answer, with its calls only if calls is set.
func (t *turn) content(parts []provider.Part, calls bool) []domarkx.Block {
	var blocks []domarkx.Block
	var text []string
	flush := func() {
		blocks = append(blocks, Foreign(strings.Join(text, "\n\n"))...)
		text = nil
	}
	for _, part := range parts {
		switch part := part.(type) {
		case provider.Text:
			if strings.TrimSpace(part.Text) != "" {
				text = append(text, part.Text)
			}
		case provider.Thought:
			flush()
			blocks = append(blocks, domarkx.Block{Type: domarkx.CodeBlock, Language: thought, Text: strings.Trim(strings.ToValidUTF8(part.Text, "\ufffd"), "\r\n")})
		case provider.Call:
			if calls {
				flush()
				blocks = append(blocks, t.tools.block(part))
			}
		}
	}
	flush()
	if blocks == nil {
		blocks = []domarkx.Block{}
	}
	return blocks
}

func isCode(b domarkx.Block, language string) bool {
	return b.Type == domarkx.CodeBlock && b.Language == language
}

// answerText returns the text of an answer without thoughts and calls, as Markdown.
func answerText(blocks []domarkx.Block) string {
	var shown []domarkx.Block
	for _, b := range blocks {
		if !isCode(b, thought) && !isCode(b, toolCall) && !isCode(b, toolResult) {
			shown = append(shown, b)
		}
	}
	return markdown.RenderContent(shown)
}
