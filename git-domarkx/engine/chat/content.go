package chat

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// The languages of code blocks with a meaning.
const (
	toolCall   = "tool-call"
	toolResult = "tool-result"
	thought    = "thought"
)

// reserved are words in the info string of a fence that give it a meaning in a document. What a
// model writes must not get such a meaning.
var reserved = []string{toolCall, toolResult, thought, "workspace-config", "session-config", "setup-script", "msg-metadata",
	"domarkx-message", "domarkx-snapshot"}

// Foreign returns text that a model, a tool or a file wrote as the content of a message. Its
// fences become code blocks. If one of them would be run, configure something or pass for a call
// or a result, the whole text is a single text block.
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

// hasReservedFence reports whether a line may begin a code block with a meaning, at any depth.
func hasReservedFence(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t>*+-0123456789.)")
		if (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")) && isReserved(line) {
			return true
		}
	}
	return false
}

// isReserved reports whether an info string has a word that gives a code block a meaning.
func isReserved(info string) bool {
	info = strings.ToLower(info)
	return strings.Contains(info, "name=") || slices.ContainsFunc(reserved, func(w string) bool { return strings.Contains(info, w) })
}

// content returns the blocks of an answer. Without calls, it leaves them out.
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
