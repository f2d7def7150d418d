package main

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// The object that show --json prints.
type (
	showRow struct {
		Session  string         `json:"session" doc:"the name of the session"`
		OID      oidField       `json:"oid" doc:"the commit of the snapshot"`
		Title    string         `json:"title" doc:"the title, as list shows it"`
		Agent    string         `json:"agent" doc:"the program that it was imported from; empty if it was not"`
		Branch   string         `json:"branch" doc:"the last Git branch on which its agent worked"`
		Tags     []string       `json:"tags" doc:"the tags in its front matter"`
		Started  timeField      `json:"started_at" doc:"the time of its first message"`
		Active   timeField      `json:"active_at" doc:"the time of its last message"`
		Total    int            `json:"total" doc:"how many messages it has"`
		Messages []shownMessage `json:"messages" doc:"its messages, or the one that NAME#K names"`
	}
	shownMessage struct {
		Index     int           `json:"index" doc:"the K of NAME#K"`
		Message   string        `json:"message" doc:"the id of the message"`
		Role      string        `json:"role" doc:"user or assistant"`
		Agent     string        `json:"agent,omitempty" doc:"the program that recorded an answer"`
		Model     string        `json:"model,omitempty" doc:"the model that wrote it"`
		Date      timeField     `json:"date" doc:"when it was written"`
		Workspace oidField      `json:"workspace_oid" doc:"the workspace version that it is linked to; empty for none"`
		Text      string        `json:"text" doc:"its text, in Markdown, without calls, results and thoughts"`
		Thoughts  []string      `json:"thoughts" doc:"what the model thought"`
		Calls     []shownCall   `json:"calls" doc:"its calls"`
		Results   []shownResult `json:"results" doc:"the results of these calls"`
	}
	shownCall struct {
		chatCalled
		Arguments jsonvalue.Value `json:"arguments" doc:"its arguments"`
	}
	shownResult struct {
		Call   int             `json:"call" doc:"the number of the call that it is of; -1 for a result without a call"`
		OK     bool            `json:"ok" doc:"whether the call succeeded"`
		Result jsonvalue.Value `json:"result" doc:"what the tool returned; null if the call failed"`
		Code   string          `json:"code,omitempty" doc:"the code of the error"`
		Error  string          `json:"error,omitempty" doc:"what went wrong"`
	}
)

// writeConversationJSON writes the messages of p as JSON, each when it has read it. The number of the first one is first.
func (inv *invocation) writeConversationJSON(p html.Session, info domarkx.Info, first int) error {
	about := info.Described()
	row := showRow{Session: p.Name, OID: oidField(info.ID), Title: about.Title, Agent: about.Agent, Branch: about.Branch, Tags: about.Tags,
		Started: timeField(about.Started), Active: timeField(about.Active), Total: info.Messages}
	rows := jsonRows{}
	head, ok := bytes.CutSuffix(rows.value(reflect.ValueOf(row)).AppendJSON(nil, "", "  "), []byte("]\n}"))
	if !ok {
		return errors.New("the messages are not the last member of a session's JSON")
	}
	inv.out.Write(escapeControls(head))
	between := "\n    "
	for n := range p.Messages.Len() {
		m, err := p.Messages.At(n)
		if err != nil {
			return fmt.Errorf("message %d: %w", first+n, err)
		}
		shown := shownMessageOf(first+n, m, about.Agent)
		if p.Version != nil {
			shown.Workspace = oidField(p.Version(first + n))
		}
		inv.out.Write(escapeControls(rows.value(reflect.ValueOf(shown)).AppendJSON([]byte(between), "    ", "  ")))
		if err := inv.out.failed(); err != nil {
			return err
		}
		between = ",\n    "
	}
	inv.out.WriteString("\n  ]\n}\n")
	return inv.out.failed()
}

// shownMessageOf returns message k of a session. agent is the program that recorded it, or "".
func shownMessageOf(k int, m domarkx.WrittenMessage, agent string) shownMessage {
	shown := shownMessage{Index: k, Message: m.ID.String(), Role: string(m.Role), Date: timeField(m.Date)}
	if m.Role == domarkx.Assistant {
		shown.Agent = agent
		if m.Metadata != nil {
			shown.Model = transcript.Text(*m.Metadata, "model")
		}
	}
	var texts []string
	for _, part := range transcript.Divide(m.Message) {
		call := -1
		switch {
		case part.Call != nil:
			call = len(shown.Calls)
			shown.Calls = append(shown.Calls, shownCall{chatCalled{call, part.Call.Resource, part.Call.Tool}, part.Call.Arguments})
		case part.Thought:
			shown.Thoughts = append(shown.Thoughts, part.Text)
		case part.Result == nil:
			texts = append(texts, part.Text)
		}
		if r := part.Result; r != nil {
			shown.Results = append(shown.Results, shownResultOf(call, r))
			for _, i := range r.Images {
				if markdown, ok := i.Markdown(); ok {
					texts = append(texts, markdown)
				}
			}
		}
	}
	shown.Text = strings.Join(texts, "\n\n")
	return shown
}

func shownResultOf(call int, r *transcript.Result) shownResult {
	if !r.Failed {
		return shownResult{Call: call, OK: true, Result: r.Value}
	}
	return shownResult{Call: call, Code: r.Status(), Error: r.Value.Text()}
}
