package openai

import (
	"encoding/json"
	"errors"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Parts implements [provider.Wire].
func (w *Chat) Parts(items [][]byte) ([]provider.Part, error) {
	c := provider.NewCollector(func(provider.Event) {})
	for _, item := range items {
		if err := chatParts(c, item); err != nil {
			return nil, err
		}
	}
	a, err := c.Finish(w.origin, nil, nil)
	return a.Parts, err
}

func chatParts(c *provider.Collector, item []byte) error {
	fields, err := provider.Fields(item)
	if err != nil {
		return err
	}
	var role, content, refusal, reasoning, other string
	err = provider.Strings(fields, map[string]*string{"role": &role, "content": &content, "refusal": &refusal, "reasoning_content": &reasoning, "reasoning": &other})
	if err != nil {
		return err
	}
	if role != string(provider.Assistant) {
		return &provider.Error{Kind: provider.ErrAnswer, Message: "a message of the role " + role}
	}
	members, err := provider.Members(item) // parts in order
	if err != nil {
		return err
	}
	thoughts := ""
	for _, m := range members {
		switch m.Name {
		case "content", "refusal":
			err = c.Text(text(m.Value))
		case "reasoning_content", "reasoning":
			if s := text(m.Value); s != "" && thoughts == "" {
				thoughts = m.Name
				err = c.Thought(s)
			}
		case "function_call", "audio":
			if string(m.Value) != "null" {
				err = &provider.Error{Kind: provider.ErrAnswer, Message: "a message with " + m.Name}
			}
		}
		if err != nil {
			return err
		}
	}
	var calls []json.RawMessage
	if list, ok := fields["tool_calls"]; ok && json.Unmarshal(list, &calls) != nil {
		return &provider.Error{Kind: provider.ErrAnswer, Message: "calls that are no array"}
	}
	for _, raw := range calls {
		call, err := provider.Fields(raw)
		if err != nil {
			return err
		}
		function, err := provider.Fields(call["function"])
		if err != nil {
			return err
		}
		var id, name, arguments string
		err = errors.Join(provider.Strings(call, map[string]*string{"id": &id}),
			provider.Strings(function, map[string]*string{"name": &name, "arguments": &arguments}))
		if err != nil {
			return err
		}
		c.Call(provider.Call{ID: id, Name: name, Arguments: arguments})
	}
	return nil
}

// Parts implements [provider.Wire].
func (w *Responses) Parts(items [][]byte) ([]provider.Part, error) {
	c := provider.NewCollector(func(provider.Event) {})
	for _, item := range items {
		fields, err := provider.Fields(item)
		if err != nil {
			return nil, err
		}
		var kind, role, id, name, arguments string
		err = provider.Strings(fields, map[string]*string{"type": &kind, "role": &role, "call_id": &id, "name": &name, "arguments": &arguments})
		if err != nil {
			return nil, err
		}
		c.Break()
		switch {
		case kind == "message" && role == string(provider.Assistant):
			err = each(fields["content"], func(kind, text string) error {
				if kind != "output_text" && kind != "refusal" {
					return &provider.Error{Kind: provider.ErrAnswer, Message: "content of the unknown type " + kind}
				}
				return c.Text(text)
			})
		case kind == "reasoning":
			err = errors.Join(each(fields["summary"], func(_, text string) error { c.Break(); return c.Thought(text) }),
				each(fields["content"], func(_, text string) error { return c.Thought(text) }))
		case kind == "function_call":
			c.Call(provider.Call{ID: id, Name: name, Arguments: arguments})
		default:
			err = &provider.Error{Kind: provider.ErrAnswer, Message: "an item of the unknown type " + kind + " " + role}
		}
		if err != nil {
			return nil, err
		}
	}
	a, err := c.Finish(w.origin, nil, nil)
	return a.Parts, err
}

// each calls add for each object in a JSON array, with its members "type", and "text" or "refusal". It does
// nothing if the array is missing.
func each(list json.RawMessage, add func(kind, text string) error) error {
	var items []json.RawMessage
	if len(list) > 0 && json.Unmarshal(list, &items) != nil {
		return &provider.Error{Kind: provider.ErrAnswer, Message: "content that is no array"}
	}
	for _, item := range items {
		fields, err := provider.Fields(item)
		if err != nil {
			return err
		}
		var kind, text, refusal string
		if err := provider.Strings(fields, map[string]*string{"type": &kind, "text": &text, "refusal": &refusal}); err != nil {
			return err
		}
		if err := add(kind, text+refusal); err != nil {
			return err
		}
	}
	return nil
}
