package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// ask stores the user's message.
func (t *turn) ask(ctx context.Context, text string, files []turns.File) error {
	blocks, err := markdown.ParseContent(text)
	if err != nil {
		return err
	}
	r := turns.Reply{}
	for _, f := range files {
		if engine.IsImage(f.Data) {
			name, err := t.FreePath(ctx, plainName(f.Path), f.Data, r.Files)
			if err != nil {
				return fmt.Errorf("attaching %q: %w", f.Path, err)
			}
			if !slices.ContainsFunc(r.Files, func(f turns.File) bool { return f.Path == name }) { // else the same picture again
				r.Files = append(r.Files, turns.File{Path: name, Data: f.Data})
			}
			blocks = append(blocks, domarkx.Block{Type: domarkx.TextBlock, Text: "![" + name + "](" + name + ")"})
			continue
		}
		if !utf8.Valid(f.Data) || strings.ContainsRune(string(f.Data), 0) {
			return fmt.Errorf("attaching %q: %w: expected a picture or text", f.Path, domarkx.ErrInvalid)
		}
		blocks = append(blocks, domarkx.Block{Type: domarkx.TextBlock, Text: "The file " + path.Base(f.Path) + ":"},
			domarkx.Block{Type: domarkx.CodeBlock, Language: strings.TrimPrefix(path.Ext(f.Path), "."), Text: strings.TrimSuffix(string(f.Data), "\n")})
	}
	r.Message = domarkx.Message{Role: domarkx.User, Content: joinTexts(blocks)}
	if r.ID, err = t.NewID(ctx); err != nil {
		return err
	}
	info, err := t.Add(ctx, r)
	if err != nil {
		return err
	}
	t.emit(MessageEvent{Info: info, Index: info.Messages - 1, ID: r.ID, Message: r.Message})
	return nil
}

// plainName returns a file name that needs no escapes in Markdown.
func plainName(file string) string {
	plain := func(r rune) rune {
		if strings.ContainsRune("._-", r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}
	name := strings.Map(plain, path.Base(file))
	name = strings.TrimLeft(name[max(0, len(name)-100):], ".")
	if strings.Trim(name, "-.") == "" {
		return "picture"
	}
	return name
}

// joinTexts joins neighbouring text blocks, which Markdown cannot distinguish.
func joinTexts(blocks []domarkx.Block) []domarkx.Block {
	joined := []domarkx.Block{}
	for _, b := range blocks {
		if n := len(joined); n > 0 && b.Type == domarkx.TextBlock && joined[n-1].Type == domarkx.TextBlock {
			joined[n-1].Text += "\n\n" + b.Text
			continue
		}
		joined = append(joined, b)
	}
	return joined
}

// answer asks the model for an answer and stores it. If the conversation does not fit into the
// model's context window, answer shortens the request.
func (t *turn) answer(ctx context.Context) (provider.Answer, error) {
	for t.compacted = false; ; {
		system, items, err := t.history(ctx)
		if err != nil {
			return provider.Answer{}, err
		}
		request, tokens, err := t.build(ctx, items, system)
		if err != nil {
			return provider.Answer{}, err
		}
		if most := float64(t.request.Model.Context) * windowShare; most > 0 && float64(tokens) > most {
			if again, err := t.makeRoom(ctx, items, system); err != nil || again {
				if err != nil {
					return provider.Answer{}, err
				}
				continue
			}
		}
		answer, err := t.stream(ctx, request)
		if errors.Is(err, provider.ErrContext) && len(answer.Parts) == 0 {
			again, roomErr := t.makeRoom(ctx, items, system)
			if roomErr != nil {
				return answer, roomErr
			}
			if again {
				continue
			}
			return answer, fmt.Errorf("%w; go on with a copy of its beginning: git domarkx fork %s NEW", err, refname.Argument(t.request.Session+"#K"))
		}
		return answer, err
	}
}

// stream sends a request, shows and records the answer as it arrives, and stores it.
func (t *turn) stream(ctx context.Context, r provider.Request) (provider.Answer, error) {
	id, err := t.NewID(ctx)
	if err != nil {
		return provider.Answer{}, err
	}
	j, err := t.newJournal(ctx, id)
	if err != nil {
		return provider.Answer{}, err
	}
	answer, failed := t.request.Model.Wire.Stream(ctx, r, func(e provider.Event) {
		switch e := e.(type) {
		case provider.TextDelta:
			j.add(journalPiece{Text: string(e)})
		case provider.ThoughtDelta:
			j.add(journalPiece{Thought: string(e)})
		}
		t.emit(e)
	})
	if cause := context.Cause(ctx); cause != nil && failed != nil {
		failed = cause
	}
	if err := j.close(); err != nil {
		failed = errors.Join(failed, err)
	}
	saving := context.WithoutCancel(ctx) // store what arrived even if the user ends the program
	if err := t.keep(saving, id, answer, failed); err != nil {
		return answer, errors.Join(failed, err)
	}
	return answer, errors.Join(failed, removeJournal(j.path))
}

// keep stores an answer. If failed is not nil, the answer broke off: keep stores its text without
// calls and marks it as interrupted.
func (t *turn) keep(ctx context.Context, id domarkx.ID, a provider.Answer, failed error) error {
	if a.Raw != nil && failed == nil {
		// A stream can split a character between two events; the items contain it whole.
		if parts, err := t.request.Model.Wire.Parts(a.Raw.Items); err == nil {
			a.Parts = parts
		}
	}
	blocks := t.content(a.Parts, failed == nil)
	if failed != nil && len(blocks) == 0 {
		return nil
	}
	if n := len(a.Calls()); failed != nil && n > 0 {
		t.emit(provider.Notice(fmt.Sprintf("the answer broke off, and its calls (%d) are left out", n)))
	}
	reply := turns.Reply{ID: id, Message: domarkx.Message{Role: domarkx.Assistant, Content: blocks}}
	model := cmp.Or(a.Model, t.origin.Model)
	meta := transcript.Object(metaModel, text(model), metaProvider, text(t.origin.Provider))
	if a.Stop != "" && failed == nil {
		meta = meta.With(metaStop, text(string(a.Stop)))
	}
	if a.Usage.Context() > 0 {
		meta = meta.With(metaUsage, usageValue(a.Usage))
	}
	if failed != nil {
		meta = meta.With(metaInterrupted, jsonvalue.BoolValue(true))
	}
	if a.Raw != nil && failed == nil && len(a.Raw.Items) <= maxItems {
		if digest := contentDigest(blocks); t.says(*a.Raw, digest) { // the condition under which addRaw uses the items
			record := encodeItems(*a.Raw, digest)
			reply.Extra = [][]byte{record}
			meta = meta.With(metaItems, jsonvalue.StringValue(fmt.Sprintf("%x", sha256.Sum256(record))))
		}
	}
	reply.Message.Metadata = &meta
	info, err := t.Answer(ctx, reply)
	if err != nil {
		return err
	}
	t.answers++
	t.spend(a.Usage)
	t.result.Text = answerText(blocks)
	t.emit(MessageEvent{Info: info, Index: info.Messages - 1, ID: id, Message: reply.Message})
	if a.Usage.Context() > 0 {
		t.emit(UsageEvent{Model: model, Usage: a.Usage, Cost: t.request.Model.cost(a.Usage)})
	}
	return nil
}

// text returns a provider's string as a value, with invalid UTF-8 replaced.
func text(s string) jsonvalue.Value { return jsonvalue.StringValue(strings.ToValidUTF8(s, "\ufffd")) }

// usageValue returns the numbers of tokens in the form of message_metadata.
func usageValue(u provider.Usage) jsonvalue.Value {
	return transcript.Object("input", u.Input, "cache_read", u.CacheRead, "cache_write", u.CacheWrite, "output", u.Output, "reasoning", u.Reasoning)
}

// readUsage reads the numbers of tokens from message_metadata. It returns nil if there are none.
func readUsage(v jsonvalue.Value) *provider.Usage {
	if v.Kind() != jsonvalue.Object {
		return nil
	}
	var u provider.Usage
	for name, n := range map[string]*int64{"input": &u.Input, "cache_read": &u.CacheRead, "cache_write": &u.CacheWrite, "output": &u.Output, "reasoning": &u.Reasoning} {
		member, _ := v.Get(name)
		count, err := strconv.ParseInt(member.Text(), 10, 64)
		if err == nil && count >= 0 && count < 1<<50 {
			*n = count
		}
	}
	if u.Context() == 0 {
		return nil
	}
	return &u
}
