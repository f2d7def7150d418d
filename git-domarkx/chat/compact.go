package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// The prompt for a summary, and the beginning of the message with it.
const (
	summaryPrompt = "The conversation is too long to go on with all of it. Write a summary that can replace everything so far, for yourself: " +
		"what the user wants and has decided, what was done and found (with names of files, commands and values that matter), and what is left to do. " +
		"Call no tools. Answer with the summary alone."
	summaryHead = "This is a summary of the conversation so far."
)

// makeRoom shortens the next request: first it cuts the results of old calls, then it replaces old
// messages by a summary. It returns false if the request cannot be shortened further.
func (t *turn) makeRoom(ctx context.Context, items []item, system []string) (bool, error) {
	if !t.shortened {
		t.shortened = true
		t.emit(provider.Notice("the conversation hardly fits the model: the model gets only the beginnings of old results"))
		return true, nil
	}
	if t.compacted {
		return false, nil
	}
	t.compacted = true
	n := cutAt(items)
	if n == 0 {
		return false, nil
	}
	return true, t.compact(ctx, items[:n], system)
}

// cutAt returns the number of messages to summarize: all before the user's last message or, if the
// turn itself is long, all but the last two. A message contains the results of its calls, so that
// calls and results stay together.
func cutAt(items []item) int {
	last := 0
	for i, m := range items {
		if m.role == provider.User && m.compacts == "" {
			last = i
		}
	}
	if last > 1 || last == 1 && items[0].compacts == "" {
		return last
	}
	return max(0, len(items)-2)
}

// compact asks the model for a summary of messages and stores it. If the request for the summary is
// itself too long, compact shortens its messages until it fits.
func (t *turn) compact(ctx context.Context, items []item, system []string) error {
	for size := shortResult; ; size /= 4 {
		r := provider.Request{System: system, MaxTokens: t.request.Model.MaxTokens, Plain: true}
		for _, m := range items {
			r.Messages = append(r.Messages, provider.Message{Role: m.role, Parts: shorten(m.parts, size)})
		}
		r.Messages = append(r.Messages, provider.Message{Role: provider.User, Parts: []provider.Part{provider.Text{Text: summaryPrompt}}})
		answer, err := t.request.Model.Wire.Stream(ctx, r, func(e provider.Event) {
			if n, ok := e.(provider.Notice); ok {
				t.emit(n)
			}
		})
		if errors.Is(err, provider.ErrContext) && size > 16 {
			continue
		}
		if cause := context.Cause(ctx); cause != nil && err != nil {
			err = cause
		}
		if err != nil {
			return err
		}
		return t.keepSummary(ctx, items, answer)
	}
}

func (t *turn) keepSummary(ctx context.Context, items []item, answer provider.Answer) error {
	said := answerText(t.content(answer.Parts, false))
	if said == "" {
		return fmt.Errorf("session %q: summarising its beginning: %w: the model wrote no summary", t.request.Session, provider.ErrAnswer)
	}
	last := items[len(items)-1].id
	meta := transcript.Object(metaCompacts, last.String(), metaModel, text(cmp.Or(answer.Model, t.origin.Model)), metaProvider, text(t.origin.Provider))
	if answer.Usage.Context() > 0 {
		meta = meta.With(metaUsage, usageValue(answer.Usage))
	}
	id, err := t.NewID(ctx)
	if err != nil {
		return err
	}
	message := domarkx.Message{Role: domarkx.User, Metadata: &meta, Content: joinTexts(append([]domarkx.Block{{Type: domarkx.TextBlock, Text: summaryHead}}, Foreign(said)...))}
	info, err := t.Add(ctx, turns.Reply{ID: id, Message: message})
	if err != nil {
		return err
	}
	t.answers++
	t.spend(answer.Usage)
	t.emit(provider.Notice(fmt.Sprintf("the conversation is too long for the model: it goes on with a summary of %d messages, which all stay in the session", len(items))))
	t.emit(MessageEvent{Info: info, Index: info.Messages - 1, ID: id, Message: message})
	return nil
}
