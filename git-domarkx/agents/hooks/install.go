package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A Request says what to install.
type Request struct {
	Scope agents.Scope // "" for the narrowest that the agent has
	MCP   bool         // register the MCP server too
	Place agents.Place
}

// A Change is a settings file and its new content.
type Change struct {
	File  *File
	After []byte // nil to remove the file

	kept record
}

// Changes reports whether the content differs.
func (c Change) Changes() bool {
	return !bytes.Equal(c.File.Data, c.After) || (c.After == nil) != c.File.Missing
}

// A Record stores the contents that settings files had before this program first edited them, so
// that Uninstall can restore every byte. It is a file in this machine's own state.
type Record struct {
	path  string
	files map[string]record
}

// A record describes a settings file before and after this program's edits.
type record struct {
	Before  []byte   `json:"before"`            // content of the whole file
	Missing bool     `json:"missing,omitempty"` // there was no file
	After   string   `json:"after"`             // SHA-256 of what was written; "" if others changed the file in between
	Dirs    []string `json:"dirs,omitempty"`    // directories that were created
}

// OpenRecord reads the record in dir. A damaged record counts as empty; then Uninstall edits files
// instead of restoring them.
func OpenRecord(dir string) (*Record, error) {
	r := &Record{path: filepath.Join(dir, "installed.json"), files: map[string]record{}}
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was installed: %w", err)
	}
	if json.Unmarshal(data, &r.files) != nil {
		r.files = map[string]record{}
	}
	return r, nil
}

func (r *Record) save() error {
	data, err := json.Marshal(r.files)
	if err == nil {
		err = atomicfile.MkdirAll(filepath.Dir(r.path), 0o700)
	}
	if err == nil {
		err = atomicfile.Replace(r.path, data)
	}
	if err != nil {
		return fmt.Errorf("noting what was installed: %w", err)
	}
	return nil
}

func digest(data []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// ScopeOf returns the scope in which an agent's hooks are installed: the wanted one, or the narrowest.
func (a Agent) ScopeOf(wanted agents.Scope) (agents.Scope, error) {
	if wanted == "" && len(a.Hooks.Scopes) > 0 {
		return a.Hooks.Scopes[0], nil
	}
	if wanted != "" && len(a.Hooks.Scopes) > 0 && !slices.Contains(a.Hooks.Scopes, wanted) {
		var all []string
		for _, s := range a.Hooks.Scopes {
			all = append(all, string(s))
		}
		return "", fmt.Errorf("%s has no hooks of the scope %s; expected %s", a.Name, wanted, strings.Join(all, " or "))
	}
	return wanted, nil
}

// Install returns the changes that install the agent's hooks.
func (a Agent) Install(req Request, r *Record) ([]Change, error) {
	scope, err := a.ScopeOf(req.Scope)
	if err != nil {
		return nil, err
	}
	inHooks := func(s agents.Scope, _ string, data []byte) ([]byte, error) { return a.withHooks(data, s, req.Place) }
	inServers := func(s agents.Scope, m agents.Servers, data []byte) ([]byte, error) {
		return withServer(m, data, serverCommand(s, req.Place))
	}
	if !req.MCP {
		inServers = nil
	}
	changes, err := a.edit([]agents.Scope{scope}, req.Place, inHooks, inServers)
	for i := range changes {
		r.remember(&changes[i])
	}
	return changes, err
}

// edit returns the changes of the settings files in some scopes, which edit the hooks and, unless nil, the servers.
func (a Agent) edit(scopes []agents.Scope, place agents.Place, inHooks func(s agents.Scope, path string, data []byte) ([]byte, error),
	inServers func(s agents.Scope, m agents.Servers, data []byte) ([]byte, error)) ([]Change, error) {
	var changes []Change
	edit := func(path string, change func([]byte) ([]byte, error)) error {
		at := slices.IndexFunc(changes, func(c Change) bool { return c.File.Path == path })
		if at < 0 {
			f, err := ReadFile(path)
			if err != nil {
				return err
			}
			at, changes = len(changes), append(changes, Change{File: f, After: f.Data})
		}
		after, err := change(changes[at].After)
		if err != nil {
			return inFile(path, err)
		}
		changes[at].After = after
		return nil
	}
	for _, scope := range scopes {
		if a.Hooks.Files != nil {
			for _, path := range a.Hooks.Files(scope, place) {
				if err := edit(path, func(data []byte) ([]byte, error) { return inHooks(scope, path, data) }); err != nil {
					return nil, err
				}
			}
		}
		if a.Servers == nil || inServers == nil {
			continue
		}
		for _, m := range a.Servers(scope, place) {
			if err := edit(m.File, func(data []byte) ([]byte, error) { return inServers(scope, m, data) }); err != nil {
				return nil, err
			}
		}
	}
	return changes, nil
}

// remember stores in c.kept how the file was before this program first changed it.
func (r *Record) remember(c *Change) {
	kept, ok := r.files[c.File.target]
	ours := kept.After == digest(c.File.Data) // this program made the file's last change
	if !ok || c.File.Missing || !ours && !bytes.Contains(c.File.Data, []byte("domarkx")) {
		kept = record{Before: c.File.Data, Missing: c.File.Missing, Dirs: kept.Dirs}
		ours = true
	}
	if kept.After = ""; ours {
		kept.After = digest(c.After)
	}
	for dir := range agents.Upward(filepath.Dir(c.File.target)) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		kept.Dirs = append(kept.Dirs, dir)
	}
	c.kept = kept
}

// Apply writes a change to its file. It first stores the file's former content in the record.
func (r *Record) Apply(c Change) error {
	if !c.Changes() {
		return nil
	}
	old, had := r.files[c.File.target]
	r.files[c.File.target] = c.kept
	if err := r.save(); err != nil {
		return err
	}
	if err := c.File.Replace(c.After); err != nil {
		delete(r.files, c.File.target)
		if had {
			r.files[c.File.target] = old
		}
		return errors.Join(err, r.save())
	}
	return nil
}

// Uninstall returns the changes that remove the agent's hooks and its MCP server, in all scopes. A
// file that is as it was written gets its former bytes back.
func (a Agent) Uninstall(place agents.Place, r *Record) ([]Change, error) {
	scopes := a.Hooks.Scopes
	if len(scopes) == 0 {
		scopes = []agents.Scope{agents.User}
	}
	changes, err := a.edit(scopes, place, func(_ agents.Scope, path string, data []byte) ([]byte, error) {
		return a.withoutHooks(data, r.mayRemove(path))
	}, func(_ agents.Scope, m agents.Servers, data []byte) ([]byte, error) {
		return withoutServer(m, data, r.mayRemove(m.File))
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
