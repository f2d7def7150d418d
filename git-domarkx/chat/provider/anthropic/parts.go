package anthropic

import (
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Parts implements [provider.Wire].
func (w *Wire) Parts(items [][]byte) ([]provider.Part, error) {
	c := provider.NewCollector(func(provider.Event) {})
	for _, item := range items {
		fields, err := provider.Fields(item)
		if err != nil {
			return nil, err
		}
		var kind, text, thought, id, name string
		if err := provider.Strings(fields, map[string]*string{"type": &kind, "text": &text, "thinking": &thought, "id": &id, "name": &name}); err != nil {
			return nil, err
		}
		c.Break()
		switch kind {
		case "text":
			err = c.Text(text)
		case "thinking":
			err = c.Thought(thought)
		case "redacted_thinking":
		case "tool_use":
			c.Call(provider.Call{ID: id, Name: name, Arguments: arguments(fields["input"])})
		default:
			err = &provider.Error{Kind: provider.ErrAnswer, Message: "a block of the unknown type " + kind}
		}
		if err != nil {
			return nil, err
		}
	}
	a, err := c.Finish(w.origin, nil, nil)
	return a.Parts, err
}

// arguments returns the arguments of a call as the model wrote them; see block.item.
func arguments(input json.RawMessage) string {
	fields, err := provider.Fields(input)
	var text string
	if wrapped, ok := fields[invalidArguments]; err == nil && ok && len(fields) == 1 && json.Unmarshal(wrapped, &text) == nil && !provider.IsObject(text) {
		return text
	}
	return string(input)
}
