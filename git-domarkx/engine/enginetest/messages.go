package enginetest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// Linked appends a message that links a version, which may be "". It creates the session if it does not exist.
func (c *Clone) Linked(name, version string, msg domarkx.Message) domarkx.Entry {
	c.T.Helper()
	ctx := c.T.Context()
	if _, err := c.Store.Tip(ctx, name); errors.Is(err, domarkx.ErrNotFound) {
		c.Saved(name, "", "")
	}
	author, committer, err := c.Env.Identity(ctx)
	c.check(err)
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
	c.check(err)
	entry, err := c.Store.Entry(ctx, info.ID, info.Messages-1)
	c.check(err)
	return entry
}

// Calling returns a message of an assistant with one call and its arguments as JSON.
func Calling(model, tool, arguments string) domarkx.Message {
	msg := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.CodeBlock, Language: "tool-call",
		Text: `{"resource": "files", "tool": "` + tool + `", "arguments": ` + arguments + `}`}}}
	if model != "" {
		metadata := jsonvalue.ObjectOf("model", model)
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
	c.check(err)
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		c.check(err)
		for _, file := range []string{pack, strings.TrimSuffix(pack, ".pack") + ".idx"} {
			c.check(os.Remove(file))
		}
		cmd := exec.Command("git", "-C", c.Dir, "unpack-objects", "-q")
		cmd.Stdin = bytes.NewReader(data)
		if out, err := cmd.CombinedOutput(); err != nil {
			c.T.Fatalf("git unpack-objects: %v\n%s", err, out)
		}
	}
	loose, err := filepath.Glob(filepath.Join(objects, "??", "*"))
	c.check(err)
	return loose
}
