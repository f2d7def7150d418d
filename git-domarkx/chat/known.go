package chat

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
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

func metadata(m domarkx.Message, name string) jsonvalue.Value {
	v, _ := m.Meta().Get(name)
	return v
}

// A known is a message in the form in which it is sent to a model.
type known struct {
	id       domarkx.ID
	role     provider.Role
	parts    []provider.Part
	text     string // text of a user's message, to find its images
	system   bool
	compacts string // for a summary, the id of the last message that it replaces; otherwise ""
	usage    *provider.Usage
	size     int           // size of the parts in bytes
	raw      *provider.Raw // the provider's items, which are sent in place of the parts; may be nil
}

func (t *turn) convert(id domarkx.ID, msg domarkx.Message) known {
	k := known{id: id, role: provider.User}
	if msg.Role == domarkx.User {
		k.text = markdown.RenderContent(msg.Content)
		k.system = metadata(msg, metaRole).Text() == "system"
		k.compacts = metadata(msg, metaCompacts).Text()
		k.add(provider.Text{Text: k.text})
		return k
	}
	k.role = provider.Assistant
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
	k.size += sizeOf([]provider.Part{p})
}

// sizeOf returns the size of parts in bytes.
func sizeOf(parts []provider.Part) (size int) {
	for _, p := range parts {
		switch p := p.(type) {
		case provider.Text:
			size += len(p.Text)
		case provider.Thought:
			size += len(p.Text)
		case provider.Call:
			size += len(p.Name) + len(p.Arguments)
		case provider.Result:
			size += len(p.Text)
		}
	}
	return size
}

func (t *turn) call(id, block string) provider.Call {
	v, err := jsonvalue.ParseValue([]byte(block))
	if err != nil || v.Kind() != jsonvalue.Object {
		return provider.Call{ID: id, Name: "unknown", Arguments: block}
	}
	resource, _ := v.Get("resource")
	tool, _ := v.Get("tool")
	arguments, ok := v.Get("arguments")
	c := provider.Call{ID: id, Name: t.tools.name(resource.Text(), tool.Text()), Arguments: "{}"}
	switch {
	case arguments.Kind() == jsonvalue.String:
		c.Arguments = arguments.Text()
	case ok:
		c.Arguments = arguments.JSON()
	}
	return c
}

// resultPart converts a tool-result block to a result for the model.
func resultPart(callID, block string) provider.Result {
	r := provider.Result{CallID: callID, Text: block}
	v, err := jsonvalue.ParseValue([]byte(block))
	if err != nil || v.Kind() != jsonvalue.Object {
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

// addRaw adds the provider's items of an answer to a message. It omits them if they came from
// another model or the answer was edited. It also omits them if their text differs from that of the
// message: otherwise, an imported session could hide instructions to the model from its reader.
// found is false if the session lacks the items.
func (t *turn) addRaw(ctx context.Context, tip domarkx.Info, k *known, msg domarkx.Message) (found bool, err error) {
	record := metadata(msg, metaItems).Text()
	if msg.Role != domarkx.Assistant || record == "" || metadata(msg, metaProvider).Text() != t.origin.Provider {
		return true, nil
	}
	data, err := t.chat.turns.AttachmentOf(ctx, tip, record)
	if err != nil || data == nil {
		return false, err
	}
	raw, message, ok := decodeItems(data)
	if ok && raw.Origin == t.origin && message == contentDigest(msg.Content) && t.says(raw, message) {
		k.raw = &raw
	}
	return true, nil
}

// says reports whether provider items have the same content as a message. digest is the
// [contentDigest] of the message.
func (t *turn) says(raw provider.Raw, digest string) bool {
	parts, err := t.request.Model.Wire.Parts(raw.Items)
	return err == nil && contentDigest(t.content(parts, true)) == digest
}

// The limits of the images in a request.
const (
	maxImages    = 20
	maxImageSize = 5 << 20 // maximum size of one image in bytes
)

// images returns the pictures in the text of a user's message, as far as the session keeps them.
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

// A memory keeps the messages of a session in the form in which they are sent to one model, so that only the first turn
// of a process reads and converts all of them. It is keyed by the ids of the trees that contain the messages, so a
// change to a message changes its key.
type memory struct {
	key    string             // the session, model and tools, on which the form depends
	leaves map[string][]known // id of a full leaf → its messages
}

// remember returns the memory of a session for a model.
func (c *Chat) remember(session string, o provider.Origin, tools toolTable) *memory {
	key := fmt.Sprintf("%q %q", session, []string{o.Provider, o.Host, o.Model})
	for i, offer := range tools.offers {
		key += fmt.Sprintf(" %q", []string{offer.Resource, offer.Name, tools.names[i]})
	}
	if c.memory == nil || c.memory.key != key {
		c.memory = &memory{key, map[string][]known{}}
	}
	return c.memory
}
