package main

import (
	"errors"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

func (t *talk) show(e chat.Event) {
	if n, ok := e.(provider.Notice); ok {
		t.endLine()
		t.inv.say("%s", string(n))
		return
	}
	switch {
	case t.command.JSON:
		if object := eventObject(e); object != nil {
			t.wrote(errors.Join(t.inv.jsonLine(object), t.inv.out.Flush()))
		}
	case t.inv.out.tty:
		t.display(e)
	}
}

func (t *talk) wrote(err error) { t.broken = errors.Join(t.broken, err) }

// display shows an event on a terminal.
func (t *talk) display(e chat.Event) {
	paint := t.inv.color()
	switch e := e.(type) {
	case provider.TextDelta:
		t.write(displayed(string(e)))
	case provider.ThoughtDelta:
		t.write(paint(dim, displayed(string(e))))
	case chat.CallEvent:
		t.endLine()
		t.write(callLine(paint, visibleLine(e.Resource+" "+e.Tool), e.Arguments.JSON(), t.inv.out.width()*4))
	case chat.ResultEvent:
		t.endLine()
		result, _ := transcript.ResultOf(e.Outcome.Block())
		t.write(paint(dim, "  "+shortLine(resultLine(&result), t.inv.out.width()-3)) + "\n")
	case chat.MessageEvent:
		t.endLine()
	}
}

func (t *talk) write(s string) {
	if s == "" {
		return
	}
	_, err := t.inv.out.WriteString(s)
	t.wrote(errors.Join(err, t.inv.out.Flush()))
	t.open = !strings.HasSuffix(strings.TrimSuffix(s, "\x1b[m"), "\n")
}

// endLine ends the line that the shown answer has begun, if any.
func (t *talk) endLine() {
	if t.open {
		t.write("\n")
	}
}

// callLine returns a line for a call of a tool, with the beginning of a text about it, in so many columns.
func callLine(paint func(style, string) string, tool, about string, columns int) string {
	line := paint(cyan, "> "+tool)
	if about != "" {
		line += " " + shortLine(about, columns)
	}
	return line + "\n"
}

// resultLine returns the text of a result for one line. r is nil if there is none.
func resultLine(r *transcript.Result) string {
	text := r.Status()
	if r == nil || r.Failed && r.Value.Text() == "" {
		return text
	}
	if r.Failed {
		text += ": "
	}
	return text + strings.TrimSpace(r.Sections()[0].Text)
}

// shortLine returns the beginning of a text as one line of so many columns.
func shortLine(s string, columns int) string {
	columns = max(columns, 20)
	part := s[:min(len(s), 8*columns)]
	line := visibleLine(oneLine(part))
	if len(part) < len(s) {
		line += "…"
	}
	return cut(line, columns)
}

// The objects that chat --json prints, one per line.
type (
	chatText struct {
		Type string `json:"type" doc:"text"`
		Text string `json:"text" doc:"how the text of the answer continues"`
	}
	chatCalled struct {
		Call     int    `json:"call" doc:"the number of the call in the message, from 0"`
		Resource string `json:"resource" doc:"the resource that is called"`
		Tool     string `json:"tool" doc:"the tool"`
	}
	chatCall struct {
		Type    string `json:"type" doc:"tool_call"`
		Message string `json:"message" doc:"the id of the message with the call"`
		chatCalled
		Arguments jsonvalue.Value `json:"arguments" doc:"its arguments, or what the model wrote if they are not an object"`
	}
	chatResult struct {
		Type  string `json:"type" doc:"tool_result"`
		Index int    `json:"index" doc:"the K of the message NAME#K with the call"`
		chatCalled
		OK        bool             `json:"ok" doc:"whether the call succeeded"`
		Result    *jsonvalue.Value `json:"result,omitempty" doc:"what the tool returned"`
		Code      string           `json:"code,omitempty" doc:"the code of the error"`
		Error     string           `json:"error,omitempty" doc:"what went wrong"`
		Workspace string           `json:"workspace_oid" doc:"the workspace version after the call"`
	}
	chatMessage struct {
		Type     string          `json:"type" doc:"message"`
		Session  string          `json:"session" doc:"the name of the session"`
		OID      string          `json:"oid" doc:"the commit of the snapshot that added the message"`
		Index    int             `json:"index" doc:"the K of the message NAME#K"`
		Message  string          `json:"message" doc:"the id of the message"`
		Role     string          `json:"role" doc:"user or assistant"`
		Metadata jsonvalue.Value `json:"message_metadata" doc:"its metadata"`
		Content  jsonvalue.Value `json:"content" doc:"its content blocks"`
	}
	chatUsage struct {
		Type  string `json:"type" doc:"usage"`
		Model string `json:"model" doc:"the model as the provider reports it"`
		usageRow
	}
	chatError struct {
		Type  string `json:"type" doc:"error"`
		Error string `json:"error" doc:"why the turn ended"`
	}
)

func (chatCmd) row() any {
	return rowAlternatives{chatText{}, chatCall{}, chatResult{}, chatMessage{}, chatUsage{}, chatError{}}
}

// eventObject returns the object for an event, or nil if it has none.
func eventObject(e chat.Event) any {
	switch e := e.(type) {
	case provider.TextDelta:
		return chatText{"text", string(e)}
	case chat.CallEvent:
		return chatCall{"tool_call", e.Message.String(), chatCalled{e.Index, e.Resource, e.Tool}, e.Arguments}
	case chat.ResultEvent:
		r := chatResult{Type: "tool_result", Index: e.CallResult.Message, chatCalled: chatCalled{e.Index, e.Resource, e.Tool}, OK: e.OK,
			Code: e.Code, Error: e.Outcome.Message, Workspace: e.WorkspaceVersion}
		if e.OK {
			r.Result = &e.Result
		}
		return r
	case chat.MessageEvent:
		m := chatMessage{Type: "message", Session: e.Name, OID: e.Info.ID, Index: e.Index, Message: e.ID.String(), Role: string(e.Message.Role)}
		m.Content, _ = e.Message.Value().Get("content")
		m.Metadata = jsonvalue.ObjectValue()
		if e.Message.Metadata != nil {
			m.Metadata = *e.Message.Metadata
		}
		return m
	case chat.UsageEvent:
		return chatUsage{"usage", e.Model, usageRow(e.Usage)}
	}
	return nil
}
