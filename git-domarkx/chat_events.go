package main

import (
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

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
