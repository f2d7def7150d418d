// Package journal records running calls, so that a call whose process was killed is neither forgotten nor repeated
// automatically.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A Journal is a directory with a file for each call. It is durable before the call starts, and is removed once the outcome
// is recorded.
type Journal struct{ dir string }

// A Call is a call that has started.
type Call struct {
	Session   string
	Workspace string
	Message   domarkx.ID // the message with the call
	Index     int        // index of the call among those of the message, from 0
	Block     domarkx.Block
	Resource  string // "" if unknown
	Tool      string // "" for a block of code
	// Appends means that the message joins the session only after the call.
	Appends bool
	// Completed is the text of the block with the arguments that the resource added, or "" if it added none.
	Completed string
	// Before is the earlier result of a call that is repeated.
	Before  string
	Process int // id of the process that runs the call
}

// In returns the journal in a directory of machine-local state.
func In(stateDir string) Journal { return Journal{filepath.Join(stateDir, "calls")} }

func (j Journal) path(c Call) string {
	return filepath.Join(j.dir, c.Message.String()+"-"+strconv.Itoa(c.Index)+".json")
}

// Begin writes an entry and makes it durable.
func (j Journal) Begin(c Call) error {
	c.Block.Extra = nil // not a part of what runs
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // so that a redaction finds all secrets
	err := encoder.Encode(entry{1, c.Message.String(), c})
	if err == nil {
		err = local.Replace(j.path(c), data.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing the journal entry of a call: %w", err)
	}
	return nil
}

// End removes the entry of a call whose outcome is recorded. The removal is durable: an entry
// that reappeared after a power failure would report the call as interrupted.
func (j Journal) End(c Call) error {
	if err := atomicfile.Remove(j.path(c)); err != nil {
		return fmt.Errorf("removing the journal entry of a recorded call: %w", err)
	}
	return nil
}

// List returns the entries of calls that started and have no recorded outcome.
func (j Journal) List() ([]Call, error) {
	files, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal of calls: %w", err)
	}
	var all []Call
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			j.sweep(f)
			continue
		}
		data, err := os.ReadFile(filepath.Join(j.dir, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just ended
		}
		if err != nil {
			return nil, fmt.Errorf("reading the journal of calls: %w", err)
		}
		c, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; if no call is running, delete the file", filepath.Join(j.dir, f.Name()), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Of returns the entries of calls in a workspace.
func (j Journal) Of(workspace string) ([]Call, error) {
	all, err := j.List()
	return slices.DeleteFunc(all, func(c Call) bool { return c.Workspace != workspace }), err
}

// sweep removes an old temporary file of a killed process.
func (j Journal) sweep(f fs.DirEntry) {
	if info, err := f.Info(); err == nil && strings.HasPrefix(f.Name(), atomicfile.TempPrefix) && time.Since(info.ModTime()) > time.Hour {
		os.Remove(filepath.Join(j.dir, f.Name()))
	}
}

// Recorded returns the block of the call as the session records it.
func (c Call) Recorded() domarkx.Block {
	block := c.Block
	if c.Completed != "" {
		block.Text = c.Completed
	}
	return block
}

// String describes the call in the words of the command line.
func (c Call) String() string {
	switch {
	case c.Appends:
		return fmt.Sprintf("exec %s %s", c.Resource, c.Tool)
	case c.Block.Language == toolcall.Language:
		asked, _ := toolcall.Parse(c.Block.Text)
		return fmt.Sprintf("call %d: %s %s", c.Index, asked.Resource, asked.Tool)
	}
	return fmt.Sprintf("call %d: %s %s", c.Index, c.Block.Language, c.Block.Name)
}

// An entry is a call as it is stored.
type entry struct {
	Format  int
	Message string // instead of that of the call
	Call
}

func parse(data []byte) (Call, error) {
	var e entry
	err := json.Unmarshal(data, &e)
	if err == nil && e.Format != 1 {
		return Call{}, fmt.Errorf("format %d: %w", e.Format, domarkx.ErrUnsupported)
	}
	if err == nil {
		e.Call.Message, err = domarkx.ParseID(e.Message)
	}
	if err != nil {
		return Call{}, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	return e.Call, nil
}
