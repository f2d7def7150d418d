package enginetest

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// WorkTree is the configuration of a resource that has the files of the work tree.
const WorkTree = `{"type": "filesystem", "id": "files", "path": "."}`

// Committed commits a version of a workspace with one resource, after those in v.Parents or, if that is nil, after
// the newest one.
func (c *Clone) Committed(workspace, config string, files map[string]string, v domarkx.VersionCommit) domarkx.Version {
	c.T.Helper()
	ctx := c.T.Context()
	parsed, err := jsonvalue.ParseValue([]byte(config))
	if err != nil {
		c.T.Fatal(err)
	}
	w, err := c.Store.BeginVersion(ctx, "")
	if err != nil {
		c.T.Fatal(err)
	}
	defer w.Abort()
	if err := w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
		c.T.Fatal(err)
	}
	added := map[string]bool{}
	for _, name := range slices.SortedFunc(maps.Keys(files), inWalk) {
		for i := range name {
			if name[i] == '/' && !added[name[:i]] {
				added[name[:i]] = true
				if err := w.Add(ctx, name[:i], domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
					c.T.Fatal(err)
				}
			}
		}
		id, size, err := w.Content(ctx, strings.NewReader(files[name]))
		if err == nil {
			err = w.Add(ctx, name, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size})
		}
		if err != nil {
			c.T.Fatal(err)
		}
	}
	version, err := w.Finish(ctx)
	if err != nil {
		c.T.Fatal(err)
	}
	v.Resources = []domarkx.ResourceVersion{{ResourceSpec: domarkx.ResourceSpec{ID: "files", Type: "filesystem", Config: parsed}, Version: version}}
	if v.Author, v.Committer, err = c.Env.Identity(ctx); err != nil {
		c.T.Fatal(err)
	}
	v.Subject = v.Operation
	var done domarkx.Version
	err = c.Store.Update(ctx, v.Operation, func(tx *gitstore.Tx) error {
		if tip, err := tx.WorkspaceTip(ctx, workspace); err == nil && v.Parents == nil {
			v.Parents = []string{tip.ID}
		}
		if done, err = tx.CommitVersion(ctx, workspace, v); err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, workspace, done.ID)
	})
	if err == nil {
		err = w.Settle()
	}
	if err != nil {
		c.T.Fatal(err)
	}
	return done
}

// inWalk compares paths name by name, which is the order in which a version is walked.
func inWalk(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// Linked appends a message that links a version, which may be "". It creates the session if it does not exist.
func (c *Clone) Linked(name, version string, msg domarkx.Message) domarkx.Entry {
	c.T.Helper()
	ctx := c.T.Context()
	if _, err := c.Store.Tip(ctx, name); errors.Is(err, domarkx.ErrNotFound) {
		c.Saved(name, "", "")
	}
	author, committer, err := c.Env.Identity(ctx)
	if err != nil {
		c.T.Fatal(err)
	}
	change := engine.Change{Name: name, Operation: "append", Author: author, Committer: committer}
	added := engine.Addition{Message: msg, ID: domarkx.NewID(0, committer.When), Link: version}
	var info domarkx.Info
	err = c.Update(ctx, "append", func(tx *transaction.Tx) error {
		tip, err := tx.Tip(ctx, name)
		if err != nil {
			return err
		}
		if info, _, err = c.AppendTo(ctx, tx, tip, change, added); err != nil {
			return err
		}
		return tx.Set(ctx, name, info, trust.Unchanged)
	})
	if err != nil {
		c.T.Fatal(err)
	}
	entry, err := c.Store.Entry(ctx, info.ID, info.Messages-1)
	if err != nil {
		c.T.Fatal(err)
	}
	return entry
}

// Calling returns a message of an assistant with one call and its arguments as JSON.
func Calling(model, tool, arguments string) domarkx.Message {
	msg := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.CodeBlock, Language: "tool-call",
		Text: `{"resource": "files", "tool": "` + tool + `", "arguments": ` + arguments + `}`}}}
	if model != "" {
		metadata := jsonvalue.ObjectValue(jsonvalue.Member{Name: "model", Value: jsonvalue.StringValue(model)})
		msg.Metadata = &metadata
	}
	return msg
}

// Saying returns a message with a text.
func Saying(role domarkx.Role, text string) domarkx.Message {
	return domarkx.Message{Role: role, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text}}}
}

// Unpack makes every packed object of the repository a loose one, and returns the files of all objects.
func (c *Clone) Unpack() []string {
	c.T.Helper()
	objects := filepath.Join(c.Dir, ".git", "objects")
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	if err != nil {
		c.T.Fatal(err)
	}
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		if err != nil {
			c.T.Fatal(err)
		}
		for _, file := range []string{pack, strings.TrimSuffix(pack, ".pack") + ".idx"} {
			if err := os.Remove(file); err != nil {
				c.T.Fatal(err)
			}
		}
		cmd := exec.Command("git", "-C", c.Dir, "unpack-objects", "-q")
		cmd.Stdin = bytes.NewReader(data)
		if out, err := cmd.CombinedOutput(); err != nil {
			c.T.Fatalf("git unpack-objects: %v\n%s", err, out)
		}
	}
	loose, err := filepath.Glob(filepath.Join(objects, "??", "*"))
	if err != nil {
		c.T.Fatal(err)
	}
	return loose
}
