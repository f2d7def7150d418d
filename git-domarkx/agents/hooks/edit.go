package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// withHooks returns the text of a settings file with the agent's hooks.
func (a Agent) withHooks(data []byte, s Scope, p Place) ([]byte, error) {
	e, err := open(data)
	if err != nil {
		return nil, err
	}
	for _, m := range a.header {
		if e.Get(m.Name) == nil {
			if err := e.Set(m.Value, m.Name); err != nil {
				return nil, err
			}
		}
	}
	for _, event := range []string{postCall, postBatch} { // an earlier installation may have installed the other event
		if a.batch == "" || slices.Contains(a.events, event) {
			continue
		}
		gone, err := a.removeFrom(e, event)
		if err == nil && gone && e.IsBare(e.Get("hooks", event)) {
			err = e.Remove("hooks", event)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, event := range a.events {
		command := a.command(s, p, event)
		ours := a.commandsIn(e.Get("hooks", event))
		if len(ours) == 0 {
			if err := e.Append(a.entry(command, event), "hooks", event); err != nil {
				return nil, err
			}
			continue
		}
		for i := len(ours) - 1; i >= 0; i-- { // from last to first, so that the positions of earlier ones stay valid
			if ours[i].Text != command && a.isWritten(ours[i].Text) {
				if err := e.Replace(ours[i], command); err != nil {
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
func (a Agent) commandsIn(list *jsontext.Value) []*jsontext.Value {
	var ours []*jsontext.Value
	for _, item := range list.Items() {
		ours = append(ours, a.commandsOf(item)...)
		for _, inner := range item.Get("hooks").Items() {
			ours = append(ours, a.commandsOf(inner)...)
		}
	}
	return ours
}

// commandsOf returns this program's commands in one hook.
func (a Agent) commandsOf(hook *jsontext.Value) []*jsontext.Value {
	var ours []*jsontext.Value
	for _, name := range []string{"command", "bash", "powershell"} {
		if v := hook.Get(name); v != nil && v.Kind == jsontext.String && a.isOurs(v.Text) {
			ours = append(ours, v)
		}
	}
	return ours
}

// has reports whether a settings file has all of the agent's hooks.
func (a Agent) has(data []byte) bool {
	e, err := open(data)
	return err == nil && len(a.events) > 0 && !slices.ContainsFunc(a.events, func(event string) bool {
		return len(a.commandsIn(e.Get("hooks", event))) == 0 && (event != postCall || len(a.commandsIn(e.Get("hooks", postBatch))) == 0)
	})
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
	for _, event := range e.Get("hooks").Names() {
		gone, err := a.removeFrom(e, event)
		if err != nil {
			return nil, err
		}
		if removed = removed || gone; gone && e.IsBare(e.Get("hooks", event)) && mayRemove("hooks", event) {
			if err := e.Remove("hooks", event); err != nil {
				return nil, err
			}
		}
	}
	if removed && e.IsBare(e.Get("hooks")) && mayRemove("hooks") {
		if err := e.Remove("hooks"); err != nil {
			return nil, err
		}
	}
	for _, m := range a.header {
		if removed && mayRemove(m.Name) && e.Get("hooks") == nil && len(e.Get().Names()) == 1 {
			if err := e.Remove(m.Name); err != nil {
				return nil, err
			}
		}
	}
	return e.Bytes(), nil
}

// removeFrom removes the agent's hooks from those of an event.
func (a Agent) removeFrom(e *jsontext.Edit, event string) (removed bool, err error) {
	for i := len(e.Get("hooks", event).Items()) - 1; i >= 0; i-- {
		item := e.Get("hooks", event).Items()[i]
		if len(a.commandsOf(item)) > 0 {
			if err := e.RemoveItem(i, "hooks", event); err != nil {
				return removed, err
			}
			removed = true
			continue
		}
		inner := item.Get("hooks").Items()
		var ours []int
		for k, hook := range inner {
			if len(a.commandsOf(hook)) > 0 {
				ours = append(ours, k)
			}
		}
		if len(ours) == 0 {
			continue
		}
		removed = true
		if len(ours) == len(inner) {
			if err := e.RemoveItem(i, "hooks", event); err != nil {
				return removed, err
			}
			continue
		}
		for _, k := range slices.Backward(ours) { // the entry has hooks of others too
			if err := e.RemoveAt(e.Get("hooks", event).Items()[i].Get("hooks"), k); err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// inFile adds the path of the settings file to an error.
func inFile(path string, err error) error {
	var syntax *jsontext.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%w; nothing was changed", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
