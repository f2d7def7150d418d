package chat

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Parameters for long conversations.
const (
	windowShare   = 0.8  // share of the context window that a request may fill
	bytesPerToken = 3.5  // estimate for text whose tokens no provider has counted
	recentItems   = 6    // number of last messages whose results are never shortened
	shortResult   = 1000 // length of a shortened result in bytes
)

// build returns the request for the next answer, and an estimate of its size in tokens.
func (t *turn) build(ctx context.Context, items []item, system []string) (provider.Request, int64, error) {
	r := provider.Request{System: system, Tools: t.tools.definitions(), MaxTokens: t.request.Model.MaxTokens, Reasoning: t.request.Model.Reasoning,
		Messages: make([]provider.Message, 0, len(items))}
	files, err := t.imageFiles(ctx, items)
	if err != nil {
		return r, 0, err
	}
	tokens := 0.0
	for i, m := range items {
		msg := provider.Message{Role: m.role, Parts: m.parts, Raw: m.raw}
		size := m.size
		if t.shortened && i < len(items)-recentItems {
			msg.Parts = shorten(m.parts, shortResult)
			size = sizeOf(msg.Parts)
		}
		tokens += float64(size) / bytesPerToken
		if m.usage != nil && !m.uncounted && !t.shortened {
			tokens = float64(m.usage.Context())
		}
		if m.role == provider.User && files != nil {
			pictures, err := t.images(ctx, m.text, files)
			if err != nil {
				return r, 0, err
			}
			if len(pictures) > 0 {
				msg.Parts = append(append([]provider.Part{}, msg.Parts...), pictures...)
			}
		}
		r.Messages = append(r.Messages, msg)
	}
	return r, int64(tokens), nil
}

// imageFiles returns the files of the session by path, or nil if no message shows an image.
func (t *turn) imageFiles(ctx context.Context, items []item) (map[string]domarkx.AttachedFile, error) {
	shows := false
	for _, m := range items {
		shows = shows || m.role == provider.User && strings.Contains(m.text, "![")
	}
	if !shows {
		return nil, nil
	}
	kept, err := t.Files(ctx)
	files := map[string]domarkx.AttachedFile{}
	for _, f := range kept {
		files[f.Path] = f
	}
	return files, err
}

// shorten returns the parts of a message with at most n bytes of each result and, below shortResult, at most 4n bytes of
// each text and of the arguments of calls.
func shorten(parts []provider.Part, n int) []provider.Part {
	short := make([]provider.Part, len(parts))
	for i, p := range parts {
		switch part := p.(type) {
		case provider.Result:
			if len(part.Text) > n && n == shortResult {
				part.Text = cut(part.Text, n) + "\n[The rest of this old result is left out.]"
			}
			if n < shortResult {
				part.Text = cut(part.Text, n)
			}
			p = part
		case provider.Text:
			if n < shortResult {
				part.Text = cut(part.Text, 4*n)
			}
			p = part
		case provider.Call:
			if n < shortResult {
				part.Arguments = cut(part.Arguments, 4*n)
			}
			p = part
		}
		short[i] = p
	}
	return short
}

// cut returns at most n bytes of a text without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
