package hooks

import (
	"errors"
	"os"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// Uninstall returns the changes that remove the agent's hooks and its MCP server, in all scopes. A
// file that is as it was written gets its former bytes back.
func (a Agent) Uninstall(place agents.Place, r *Record) ([]Change, error) {
	scopes := a.Hooks.Scopes
	if len(scopes) == 0 {
		scopes = []agents.Scope{agents.User}
	}
	changes, err := a.edit(scopes, place, func(_ agents.Scope, path string, data []byte) ([]byte, error) {
		return a.withoutHooks(data, r.mayRemove(path))
	}, func(_ agents.Scope, path string, data []byte, m servers, i int) ([]byte, error) {
		return m.withoutServer(data, i, r.mayRemove(path))
	})
	for i := range changes {
		r.restore(&changes[i])
	}
	return changes, err
}

// mayRemove returns a function that reports whether an empty object or array of the file may be
// removed: one that this program created, or any if the record has no entry for the file.
func (r *Record) mayRemove(path string) func(path ...string) bool {
	target, err := follow(path)
	kept, ok := r.files[target]
	before, unread := open(kept.Before)
	return func(path ...string) bool { return errors.Join(err, unread) != nil || !ok || before.Get(path...) == nil }
}

// restore gives a file its former content if nobody changed it since this program wrote it. If this
// program created the file and nothing else is in it, restore removes the file.
func (r *Record) restore(c *Change) {
	kept, ok := r.files[c.File.target]
	switch {
	case c.File.Missing:
		c.After = nil
	case ok && kept.After == digest(c.File.Data) && !hasOthers(c):
		c.After = kept.Before
		if kept.Missing {
			c.After = nil
		} else if c.After == nil {
			c.After = []byte{}
		}
	case ok && kept.Missing && isEmpty(c.After):
		c.After = nil
	}
}

// hasOthers reports whether the file has hooks of this program for other agents, which stay.
func hasOthers(c *Change) bool {
	e, err := open(c.After)
	if err != nil {
		return false
	}
	for _, a := range agents.All() {
		for _, event := range jsontext.Names(e.Get("hooks")) {
			if len(Of(a).commandsIn(e.Get("hooks", event))) > 0 {
				return true
			}
		}
	}
	return false
}

// isEmpty reports whether a settings file has an object without members and comments.
func isEmpty(data []byte) bool {
	e, err := open(data)
	return err == nil && jsontext.IsBare(e.Get())
}

// Undo writes a change that [Agent.Uninstall] returned, and deletes the file's entry from the
// record. If the change removes the file, Undo also removes the empty directories that this program
// created for it.
func (r *Record) Undo(c Change) error {
	if c.Changes() {
		if err := c.File.Replace(c.After); err != nil {
			return err
		}
	}
	kept, ok := r.files[c.File.target]
	if !ok {
		return nil
	}
	if c.After == nil {
		for _, dir := range kept.Dirs {
			if err := os.Remove(dir); err != nil {
				break // the directory contains something else
			}
		}
	}
	delete(r.files, c.File.target)
	return r.save()
}
