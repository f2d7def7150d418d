package anthropic

import (
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Parts implements [provider.Wire].
func (w *Wire) Parts(items [][]byte) ([]provider.Part, error) {
	return provider.PartsOf(items, addPart)
}

func addPart(c *provider.Collector, item []byte) error {
	var block provider.Strict[struct {
		Type, Text, Thinking, ID, Name string
		Input                          json.RawMessage
	}]
	if err := json.Unmarshal(item, &block); err != nil {
		return err
	}
	c.Break()
	switch b := block.V; b.Type {
	case "text":
		return c.Text(b.Text)
	case "thinking":
		return c.Thought(b.Thinking)
	case "redacted_thinking":
	case "tool_use":
		c.Call(provider.Call{ID: b.ID, Name: b.Name, Arguments: arguments(b.Input)})
	default:
		return &provider.Error{Kind: provider.ErrAnswer, Message: "a block of the unknown type " + b.Type}
	}
	return nil
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
