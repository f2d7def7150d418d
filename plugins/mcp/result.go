package mcp

import (
	"encoding/json"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// result converts the result of a call: its "content" and "structuredContent" as the server sent
// them, redacted. If they are over the limit of package toolresult, the result holds the beginning,
// "truncated" and the size in "bytes", and an attachment holds the whole as JSON.
func (r *resource) result(raw json.RawMessage) (domarkx.Result, error) {
	v, err := jsonvalue.ParseValue(raw)
	if err != nil {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeBroken, "the server's result cannot be read: %v", err)
	}
	content, _ := v.Get("content")
	content = redacted(content, r.env.Redact)
	if failed, _ := v.Get("isError"); failed.IsTrue() {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeFailed, "%s", errorText(content))
	}
	if content.Kind() != jsonvalue.Array {
		content = jsonvalue.ArrayValue()
	}
	whole := jsonvalue.ObjectOf("content", content)
	structured, ok := v.Get("structuredContent")
	if ok {
		whole = whole.With("structuredContent", redacted(structured, r.env.Redact))
	}
	text := whole.AppendJSON(nil, "", "")
	if len(text) <= toolresult.Limit {
		return domarkx.Result{Value: whole}, nil
	}
	spool := toolresult.NewSpool(r.env.Dir)
	defer spool.Close()
	if _, err := spool.Write(text); err != nil {
		return domarkx.Result{}, err
	}
	attachment, err := spool.Attachment()
	if err != nil {
		return domarkx.Result{}, err
	}
	short := jsonvalue.ObjectOf("content", beginning(content), "truncated", true, "bytes", len(text))
	return domarkx.Result{Value: short, Attachment: attachment}, nil
}

// itemOverhead is an upper bound, in bytes, for the JSON of a shortened text item without its text.
const itemOverhead = 1 << 10

// beginning returns the items of a content that fit into the limit. The last one is cut if it is a
// text.
func beginning(content jsonvalue.Value) jsonvalue.Value {
	left := toolresult.Limit - itemOverhead
	var items []jsonvalue.Value
	for _, item := range content.Items() {
		size := len(item.AppendJSON(nil, "", "")) + 1
		if size <= left {
			items = append(items, item)
			left -= size
			continue
		}
		text, ok := item.Get("text")
		if !ok || text.Kind() != jsonvalue.String {
			break
		}
		short := shorten(text.Text(), left)
		if over := len(jsonvalue.StringValue(short).JSON()) - left; over > 0 { // JSON escapes make the text longer
			short = shorten(short, max(0, len(short)-over))
		}
		items = append(items, jsonvalue.ObjectOf("type", "text", "text", short))
		break
	}
	return jsonvalue.ArrayValue(items...)
}

func errorText(content jsonvalue.Value) string {
	var texts []string
	for _, item := range content.Items() {
		if text, ok := item.Get("text"); ok && text.Kind() == jsonvalue.String {
			texts = append(texts, text.Text())
		}
	}
	all := strings.Join(texts, "\n")
	if all == "" {
		return "the tool failed and does not say why"
	}
	if len(all) > maxErrorText {
		return shorten(all, maxErrorText-len(cut)) + cut
	}
	return all
}
