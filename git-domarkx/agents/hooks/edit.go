package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// withHooks returns the text of a settings file with the agent's hooks.
func (a Agent) withHooks(data []byte, s agents.Scope, p agents.Place) ([]byte, error) {
	e, err := open(data)
	if err != nil {
		return nil, err
	}
	for _, m := range a.Hooks.Header.Members() {
		if e.Get(m.Name) == nil {
			if err := e.Set(m.Value, m.Name); err != nil {
				return nil, err
			}
		}
	}
	if other := a.otherEvent(); other != "" && a.removeFrom(e, other) && jsontext.IsBare(e.Get("hooks", other)) {
		e.Remove("hooks", other)
	}
	for _, event := range a.events {
		command := a.command(s, p, event)
		ours := a.commandsIn(e.Get("hooks", event))
		if len(ours) == 0 {
			if err := e.Append(a.Hooks.Entry(command), "hooks", event); err != nil {
				return nil, err
			}
			continue
		}
		for i := len(ours) - 1; i >= 0; i-- { // from last to first, so that the positions of earlier ones stay valid
			if text := jsontext.Text(ours[i]); text != command && a.isWritten(text) {
				if err := e.Replace(ours[i], jsonvalue.StringValue(command)); err != nil {
					return nil, err
				}
			}
		}
	}
	return e.Bytes(), nil
}

// open opens a settings file to be edited. An empty one gets an object.
func open(data []byte) (*jsontext.Edit, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	return jsontext.New(data)
}

// commandsIn returns this program's commands among the hooks of an event.
func (a Agent) commandsIn(list *hujson.Value) []*hujson.Value {
	var ours []*hujson.Value
	for _, item := range jsontext.Items(list) {
		ours = append(ours, a.commandsOf(item)...)
		for _, inner := range jsontext.Items(jsontext.Member(item, "hooks")) {
			ours = append(ours, a.commandsOf(inner)...)
		}
	}
	return ours
}

// commandsOf returns this program's commands in one hook.
func (a Agent) commandsOf(hook *hujson.Value) []*hujson.Value {
	var ours []*hujson.Value
	for _, name := range []string{"command", "bash", "powershell"} {
		if v := jsontext.Member(hook, name); a.isOurs(jsontext.Text(v)) {
			ours = append(ours, v)
		}
	}
	return ours
}

// has reports whether a settings file has all of the agent's hooks.
func (a Agent) has(data []byte) bool {
	e, err := open(data)
	has := func(event string) bool { return len(a.commandsIn(e.Get("hooks", event))) > 0 }
	return err == nil && len(a.events) > 0 && !slices.ContainsFunc(a.events, func(event string) bool {
		return !has(event) && (a.Hooks.Batch == "" || event != a.call() || !has(a.Hooks.Batch))
	})
}

// otherEvent returns the event after calls that an earlier installation may have installed, for another version of the
// agent; "" if there is none.
func (a Agent) otherEvent() string {
	if slices.Contains(a.events, a.Hooks.Batch) {
		return a.call()
	}
	return a.Hooks.Batch
}

// withoutHooks returns the text of a settings file without the agent's hooks. mayRemove says
// which containers may go when they become empty.
func (a Agent) withoutHooks(data []byte, mayRemove func(path ...string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return data, nil
	}
	e, err := jsontext.New(data)
	if err != nil {
		return nil, err
	}
	removed := false
	for _, event := range jsontext.Names(e.Get("hooks")) {
		gone := a.removeFrom(e, event)
		if removed = removed || gone; gone && jsontext.IsBare(e.Get("hooks", event)) && mayRemove("hooks", event) {
			e.Remove("hooks", event)
		}
	}
	if removed && jsontext.IsBare(e.Get("hooks")) && mayRemove("hooks") {
		e.Remove("hooks")
	}
	for _, m := range a.Hooks.Header.Members() {
		if removed && mayRemove(m.Name) && e.Get("hooks") == nil && len(jsontext.Names(e.Get())) == 1 {
			e.Remove(m.Name)
		}
	}
	return e.Bytes(), nil
}

// removeFrom removes the agent's hooks from those of an event.
func (a Agent) removeFrom(e *jsontext.Edit, event string) (removed bool) {
	list := e.Get("hooks", event)
	for i := len(jsontext.Items(list)) - 1; i >= 0; i-- {
		item := jsontext.Items(list)[i]
		inner := jsontext.Member(item, "hooks")
		var ours []int
		for k, hook := range jsontext.Items(inner) {
			if len(a.commandsOf(hook)) > 0 {
				ours = append(ours, k)
			}
		}
		whole := len(a.commandsOf(item)) > 0 || len(ours) > 0 && len(ours) == len(jsontext.Items(inner))
		removed = removed || whole || len(ours) > 0
		if whole {
			e.RemovePart(list, i)
			continue
		}
		for _, k := range slices.Backward(ours) { // the entry has hooks of others too
			e.RemovePart(inner, k)
		}
	}
	return removed
}

// inFile adds the path of the settings file to an error.
func inFile(path string, err error) error {
	var syntax *jsontext.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%w; nothing was changed", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
