package turns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A callJournal records running calls, so that a call whose process was killed is neither
// forgotten nor repeated automatically. Each entry is a file. It is durable before the call
// starts and is removed once the outcome is recorded.
type callJournal struct{ dir string }

// A callRecord is the journal entry of a call that has started.
type callRecord struct {
	Session   string
	Workspace string
	Message   domarkx.ID // the message with the call
	Index     int        // index of the call among those of the message, from 0
	Block     domarkx.Block
	Resource  string // "" if unknown
	Tool      string // "" for a block of code
	// Appends means that the message joins the session only after the call.
	Appends bool
	// Completed is the text of the block with the arguments that the resource added, or "" if it
	// added none.
	Completed string
	// Before is the earlier result of a call that is repeated.
	Before  string
	Process int // id of the process that runs the call
}

func (m *Manager) journal() callJournal {
	return callJournal{filepath.Join(m.env.StateDir, "calls")}
}

func (j callJournal) path(c callRecord) string {
	return filepath.Join(j.dir, c.Message.String()+"-"+strconv.Itoa(c.Index)+".json")
}

// begin writes an entry and makes it durable.
func (j callJournal) begin(c callRecord) error {
	err := local.Replace(j.path(c), view.PrettyJSON(c.value()))
	if err != nil {
		return fmt.Errorf("writing the journal entry of a call: %w", err)
	}
	return nil
}

// end removes the entry of a call whose outcome is recorded. The removal is durable: an entry
// that reappeared after a power failure would report the call as interrupted.
func (j callJournal) end(c callRecord) error {
	if err := atomicfile.Remove(j.path(c)); err != nil {
		return fmt.Errorf("removing the journal entry of a recorded call: %w", err)
	}
	return nil
}

// list returns the entries of calls that started and have no recorded outcome.
func (j callJournal) list() ([]callRecord, error) {
	files, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal of calls: %w", err)
	}
	var all []callRecord
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
		c, err := parseCallRecord(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; if no call is running, delete the file", filepath.Join(j.dir, f.Name()), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// sweep removes an old temporary file of a killed process.
func (j callJournal) sweep(f fs.DirEntry) {
	if info, err := f.Info(); err == nil && strings.HasPrefix(f.Name(), atomicfile.TempPrefix) && time.Since(info.ModTime()) > time.Hour {
		os.Remove(filepath.Join(j.dir, f.Name()))
	}
}

func (c callRecord) value() jsonvalue.Value {
	text := func(name, s string) jsonvalue.Member {
		return jsonvalue.Member{Name: name, Value: jsonvalue.StringValue(s)}
	}
	number := func(name string, n int) jsonvalue.Member {
		return jsonvalue.Member{Name: name, Value: jsonvalue.NumberValue(strconv.Itoa(n))}
	}
	return jsonvalue.ObjectValue(number("format", 1), text("session", c.Session), text("workspace", c.Workspace),
		text("message", c.Message.String()), number("index", c.Index),
		text("language", c.Block.Language), text("name", c.Block.Name), text("code", c.Block.Text),
		text("resource", c.Resource), text("tool", c.Tool), text("before", c.Before), text("completed", c.Completed),
		jsonvalue.Member{Name: "appends", Value: jsonvalue.BoolValue(c.Appends)}, number("process", c.Process))
}

func parseCallRecord(data []byte) (callRecord, error) {
	v, err := jsonvalue.ParseValue(data)
	if err != nil {
		return callRecord{}, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, domarkx.Locate(err, data))
	}
	text := func(name string) string { member, _ := v.Get(name); return member.Text() }
	if text("format") != "1" {
		return callRecord{}, fmt.Errorf("format %q: %w", text("format"), domarkx.ErrUnsupported)
	}
	c := callRecord{Session: text("session"), Workspace: text("workspace"), Resource: text("resource"), Tool: text("tool"),
		Before: text("before"), Completed: text("completed"), Appends: text("appends") == "true"}
	c.Block = domarkx.Block{Type: domarkx.CodeBlock, Language: text("language"), Name: text("name"), Text: text("code")}
	c.Block.HasName = c.Block.Name != ""
	if c.Message, err = domarkx.ParseID(text("message")); err != nil {
		return c, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	if c.Index, err = strconv.Atoi(text("index")); err != nil {
		return c, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	c.Process, err = strconv.Atoi(text("process"))
	if err != nil {
		return c, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	return c, nil
}
