package chat

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// The members of message_metadata that a chat reads and writes.
const (
	metaRole        = "role"
	metaModel       = "model"
	metaProvider    = "provider"
	metaStop        = "stop_reason"
	metaUsage       = "usage"
	metaInterrupted = "interrupted"
	metaItems       = "provider_items"
	metaCompacts    = "compacts"
)

func metadata(m domarkx.Message, name string) domarkx.Value {
	if m.Metadata == nil {
		return domarkx.Value{}
	}
	v, _ := m.Metadata.Get(name)
	return v
}

// known is a message as it goes into requests.
type known struct {
	role     provider.Role
	parts    []provider.Part
	text     string // of a message of the user, for its images
	system   bool
	compacts string // the id of the last message that it stands for; "" if it is no summary
	items    string // SHA-256 of the record of its provider items
	digest   string // see contentDigest
	provider string
	usage    *provider.Usage
	size     int // bytes of the parts
}

// An item is a message of the history that a request begins with.
type item struct {
	*known
	id  domarkx.ID
	key knownKey
	raw *provider.Raw
	// uncounted means that the usage in the message is of a longer conversation.
	uncounted bool
}

// history returns the messages that a request contains, in order: from the last summary on, and
// the system prompts.
func (t *turn) history(ctx context.Context) (system []string, items []item, err error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return nil, nil, err
	}
	header, err := t.Header(ctx)
	if err != nil {
		return nil, nil, err
	}
	if v, _ := header.ExecutionConfig.Get("system"); v.Kind() == domarkx.String && strings.TrimSpace(v.Text()) != "" {
		system = append(system, v.Text())
	}
	backward, summary, err := t.backward(ctx, tip)
	if err != nil {
		return nil, nil, err
	}
	whole := summary < 0
	if !whole {
		first, err := t.leadingSystem(ctx, tip)
		if err != nil {
			return nil, nil, err
		}
		system = append(system, first...)
		items = append(items, backward[summary])
	}
	for i := len(backward) - 1; i >= 0; i-- {
		if !whole && i > summary {
			backward[i].uncounted = true
		}
		switch {
		case i == summary:
		case backward[i].system:
			system = append(system, backward[i].text)
		default:
			items = append(items, backward[i])
		}
	}
	return system, items, nil
}

// backward returns the messages from the end to those that a summary stands for, the last one first,
// and where the newest summary is; -1 if there is none.
func (t *turn) backward(ctx context.Context, tip domarkx.Info) (backward []item, summary int, err error) {
	summary, end := -1, ""
	for last, step := tip.Messages, 64; last > 0; step *= 4 {
		first := max(0, last-step) / share * share
		part, err := t.between(ctx, tip, first, last)
		if err != nil {
			return nil, 0, err
		}
		for _, i := range slices.Backward(part) {
			if summary >= 0 && i.id.String() == end {
				return backward, summary, nil
			}
			if i.compacts != "" && summary >= 0 {
				continue // of an earlier part of the session
			}
			backward = append(backward, i)
			if i.compacts != "" {
				summary, end = len(backward)-1, i.compacts
			}
		}
		last = first
	}
	return backward, summary, nil
}

// share is the number of messages that one goroutine reads at a time, whole directories of them.
const share = 256

// between reads messages from number first on, before number last, on all processors.
func (t *turn) between(ctx context.Context, tip domarkx.Info, first, last int) ([]item, error) {
	items := make([]item, last-first)
	fresh := make([]bool, len(items))
	var next atomic.Int64
	workers := max(1, min(runtime.GOMAXPROCS(0), len(items)/share))
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for errs[w] == nil {
				end := int(next.Add(share))
				if end-share >= len(items) {
					return
				}
				errs[w] = t.read(ctx, tip, first+end-share, items[end-share:min(end, len(items))], fresh[end-share:])
			}
		})
	}
	group.Wait()
	for i := range items {
		if fresh[i] {
			t.chat.known[items[i].key] = items[i].known
		}
	}
	return items, errors.Join(errs...)
}

// read reads messages from number first on. It sets fresh for those that were not known.
func (t *turn) read(ctx context.Context, tip domarkx.Info, first int, items []item, fresh []bool) error {
	entries, err := t.chat.turns.Messages(ctx, tip, first, first+len(items))
	if err != nil {
		return err
	}
	for i, e := range entries {
		k, ok := t.chat.known[keyOf(e)]
		if !ok {
			if k, err = t.known(ctx, e); err != nil {
				return err
			}
			fresh[i] = e.JSON.ID != ""
		}
		items[i] = item{known: k, id: e.ID, key: keyOf(e)}
	}
	return nil
}

// leadingSystem returns the system messages with which the session begins.
func (t *turn) leadingSystem(ctx context.Context, tip domarkx.Info) (system []string, err error) {
	for k := range tip.Messages {
		e, err := t.chat.turns.EntryAt(ctx, tip, k)
		if err != nil {
			return nil, err
		}
		m, err := t.known(ctx, e)
		if err != nil || !m.system {
			return system, err
		}
		system = append(system, m.text)
	}
	return system, nil
}

// known reads and converts a message.
func (t *turn) known(ctx context.Context, e domarkx.Entry) (*known, error) {
	msg, err := t.chat.turns.ReadMessage(ctx, e)
	if err != nil {
		return nil, err
	}
	return t.convert(e.ID, msg), nil
}

// keyOf identifies the text of a message.
func keyOf(e domarkx.Entry) knownKey { return knownKey{e.ID, e.JSON.ID} }

type knownKey struct {
	id   domarkx.ID
	json string
}

// convert converts a stored message.
func (t *turn) convert(id domarkx.ID, msg domarkx.Message) *known {
	k := &known{role: provider.User}
	if msg.Role == domarkx.User {
		k.text = markdown.RenderContent(msg.Content)
		k.system = metadata(msg, metaRole).Text() == "system"
		k.compacts = metadata(msg, metaCompacts).Text()
		k.add(provider.Text{Text: k.text})
		return k
	}
	k.role = provider.Assistant
	k.provider = metadata(msg, metaProvider).Text()
	k.items = metadata(msg, metaItems).Text()
	if k.items != "" {
		k.digest = contentDigest(msg.Content)
	}
	k.usage = readUsage(metadata(msg, metaUsage))
	var text []domarkx.Block
	flush := func() {
		if len(text) > 0 {
			k.add(provider.Text{Text: markdown.RenderContent(text)})
		}
		text = nil
	}
	callID, n := "", 0
	for _, b := range msg.Content {
		switch {
		case isCode(b, thought):
			flush()
			k.add(provider.Thought{Text: b.Text})
		case isCode(b, toolCall):
			flush()
			callID = hex.EncodeToString(id[:]) + "-" + strconv.Itoa(n)
			n++
			k.add(t.call(callID, b.Text))
		case isCode(b, toolResult) && callID != "":
			flush()
			k.add(resultPart(callID, b.Text))
			callID = ""
		default:
			text = append(text, b)
		}
	}
	flush()
	return k
}

func (k *known) add(p provider.Part) {
	k.parts = append(k.parts, p)
	k.size += partSize(p)
}

func partSize(p provider.Part) int {
	switch p := p.(type) {
	case provider.Text:
		return len(p.Text)
	case provider.Thought:
		return len(p.Text)
	case provider.Call:
		return len(p.Name) + len(p.Arguments)
	case provider.Result:
		return len(p.Text)
	}
	return 0
}

// call returns the call in a tool-call block.
func (t *turn) call(id, block string) provider.Call {
	v, err := domarkx.ParseValue([]byte(block))
	if err != nil || v.Kind() != domarkx.Object {
		return provider.Call{ID: id, Name: "unknown", Arguments: block}
	}
	resource, _ := v.Get("resource")
	tool, _ := v.Get("tool")
	arguments, ok := v.Get("arguments")
	c := provider.Call{ID: id, Name: t.tools.name(resource.Text(), tool.Text()), Arguments: "{}"}
	switch {
	case arguments.Kind() == domarkx.String:
		c.Arguments = arguments.Text()
	case ok:
		c.Arguments = arguments.JSON()
	}
	return c
}

// resultPart returns the result in a tool-result block as the model gets it.
func resultPart(callID, block string) provider.Result {
	r := provider.Result{CallID: callID, Text: block}
	v, err := domarkx.ParseValue([]byte(block))
	if err != nil || v.Kind() != domarkx.Object {
		return r
	}
	if ok, _ := v.Get("ok"); ok.IsTrue() {
		result, _ := v.Get("result")
		r.Text = result.JSON()
		return r
	}
	reason, ok := v.Get("error")
	if !ok {
		return r
	}
	code, _ := reason.Get("code")
	message, _ := reason.Get("message")
	r.Text, r.Failed = strings.TrimSpace(code.Text()+": "+message.Text()), true
	return r
}

// rawOf returns the provider items of an answer, if they came from the model that is asked, the
// answer was not edited, and they say what the message says: a session of somebody else could
// say something else to the model than to its reader.
func (t *turn) rawOf(ctx context.Context, k *known) (*provider.Raw, error) {
	if k.items == "" || k.provider != t.origin.Provider {
		return nil, nil
	}
	data, err := t.Attachment(ctx, k.items)
	if err != nil || data == nil {
		return nil, err
	}
	raw, message, ok := decodeItems(data)
	if !ok || raw.Origin != t.origin || message != k.digest || !t.says(raw, k.digest) {
		return nil, nil
	}
	return &raw, nil
}

// says reports whether provider items say what a message with a digest of its content says.
func (t *turn) says(raw provider.Raw, digest string) bool {
	parts, err := t.request.Model.Wire.Parts(raw.Items)
	return err == nil && contentDigest(t.content(parts, true)) == digest
}

// Limits of the images of a request.
const (
	maxImages    = 20
	maxImageSize = 5 << 20 // bytes
)

// images returns the pictures that a message of the user shows and the session keeps.
func (t *turn) images(ctx context.Context, text string, files map[string]domarkx.AttachedFile) ([]provider.Part, error) {
	var parts []provider.Part
	for _, destination := range markdown.Images(text) {
		path, err := markdown.ImagePath(destination)
		f, ok := files[path]
		if err != nil || !ok || f.Size > maxImageSize || len(parts) == maxImages {
			continue
		}
		data, err := t.Attachment(ctx, f.SHA256)
		if err != nil {
			return nil, err
		}
		switch kind := http.DetectContentType(data); kind {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			parts = append(parts, provider.Image{MediaType: kind, Data: data})
		}
	}
	return parts, nil
}
