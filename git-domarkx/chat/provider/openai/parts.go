package openai

import (
	"encoding/json"
	"errors"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Parts implements [provider.Wire].
func (w *Chat) Parts(items [][]byte) ([]provider.Part, error) {
	return provider.PartsOf(items, chatParts)
}

func invalid(message string) error {
	return &provider.Error{Kind: provider.ErrAnswer, Message: message}
}

func chatParts(c *provider.Collector, item []byte) error {
	var message provider.Strict[struct {
		Role, Content, Refusal, Reasoning string
		ReasoningContent                  string `json:"reasoning_content"`
		ToolCalls                         []provider.Strict[struct {
			ID       string
			Function *provider.Strict[struct{ Name, Arguments string }]
		}] `json:"tool_calls"`
	}]
	if err := json.Unmarshal(item, &message); err != nil {
		return err
	}
	if role := message.V.Role; role != string(provider.Assistant) {
		return invalid("a message of the role " + role)
	}
	members, err := provider.Members(item) // parts in order
	if err != nil {
		return err
	}
	thoughts := ""
	for _, m := range members {
		switch m.Name {
		case "content", "refusal":
			err = c.Text(provider.TextOf(m.Value))
		case "reasoning_content", "reasoning":
			if s := provider.TextOf(m.Value); s != "" && thoughts == "" {
				thoughts = m.Name
				err = c.Thought(s)
			}
		case "function_call", "audio":
			if string(m.Value) != "null" {
				err = invalid("a message with " + m.Name)
			}
		}
		if err != nil {
			return err
		}
	}
	for _, call := range message.V.ToolCalls {
		if call.V.Function == nil {
			return invalid("a call without its function")
		}
		function := call.V.Function.V
		c.Call(provider.Call{ID: call.V.ID, Name: function.Name, Arguments: function.Arguments})
	}
	return nil
}

// A piece is content or reasoning in an output item.
type piece = provider.Strict[struct{ Type, Text, Refusal string }]

// Parts implements [provider.Wire].
func (w *Responses) Parts(items [][]byte) ([]provider.Part, error) {
	return provider.PartsOf(items, responsesParts)
}

func responsesParts(c *provider.Collector, raw []byte) error {
	var item provider.Strict[struct {
		Type, Role, Name, Arguments string
		CallID                      string `json:"call_id"`
		Content, Summary            []piece
	}]
	err := json.Unmarshal(raw, &item)
	if err != nil {
		return err
	}
	c.Break()
	switch i := item.V; {
	case i.Type == "message" && i.Role == string(provider.Assistant):
		for _, p := range i.Content {
			if p.V.Type != "output_text" && p.V.Type != "refusal" {
				return invalid("content of the unknown type " + p.V.Type)
			}
			err = errors.Join(err, c.Text(p.V.Text+p.V.Refusal))
		}
	case i.Type == "reasoning":
		for _, p := range i.Summary {
			c.Break()
			err = errors.Join(err, c.Thought(p.V.Text+p.V.Refusal))
		}
		for _, p := range i.Content {
			err = errors.Join(err, c.Thought(p.V.Text+p.V.Refusal))
		}
	case i.Type == "function_call":
		c.Call(provider.Call{ID: i.CallID, Name: i.Name, Arguments: i.Arguments})
	default:
		err = invalid("an item of the unknown type " + i.Type + " " + i.Role)
	}
	return err
}
