package anthropic

import (
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Parts implements [provider.Wire].
func (w *Wire) Parts(items [][]byte) ([]provider.Part, error) {
	c := provider.NewCollector(func(provider.Event) {})
	for _, item := range items {
		var block provider.Strict[struct {
			Type, Text, Thinking, ID, Name string
			Input                          json.RawMessage
		}]
		if err := json.Unmarshal(item, &block); err != nil {
			return nil, err
		}
		var err error
		c.Break()
		switch b := block.V; b.Type {
		case "text":
			err = c.Text(b.Text)
		case "thinking":
			err = c.Thought(b.Thinking)
		case "redacted_thinking":
		case "tool_use":
			c.Call(provider.Call{ID: b.ID, Name: b.Name, Arguments: arguments(b.Input)})
		default:
			err = &provider.Error{Kind: provider.ErrAnswer, Message: "a block of the unknown type " + b.Type}
		}
		if err != nil {
			return nil, err
		}
	}
	c.Break()
	return c.Parts, nil
}

// arguments returns the arguments of a call as the model wrote them; see block.item.
func arguments(input json.RawMessage) string {
	members, err := provider.Members(input)
	var text string
	if err == nil && len(members) == 1 && members[0].Name == invalidArguments && json.Unmarshal(members[0].Value, &text) == nil && !provider.IsObject(text) {
		return text
	}
	return string(input)
}
