package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// A redactor replaces a word in the session with a tip.
type redactor struct {
	transaction.Redaction // for imports
	tip, from, to         string
}

func (r redactor) Document(_ context.Context, tip string, _ bool) (transaction.Redaction, error) {
	if tip != r.tip {
		return nil, nil
	}
	return r, nil
}

func (r redactor) Bytes(_ context.Context, content []byte) ([]byte, error) {
	return bytes.ReplaceAll(content, []byte(r.from), []byte(r.to)), nil
}

func (r redactor) Secrets() int { return 0 }

// TestAppendedToARedactedSession appends a message with a file and an attachment that it names, all with a secret: nothing of
// it is stored, and the message names the stored attachment.
func TestAppendedToARedactedSession(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	tip := c.Appended("s", "hello")
	c.Redacts(redactor{tip: tip.ID, from: "secret", to: "[1]"})
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	author, committer, err := c.Env.Identity(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a := engine.Addition{Message: enginetest.Saying(domarkx.User, "a secret, and "+digest("extra secret")), ID: domarkx.NewID(0, committer.When),
		Files: []engine.File{{Path: "notes.txt", Data: []byte("file secret")}}, Extra: [][]byte{[]byte("extra secret")}}
	var info domarkx.Info
	var msg domarkx.Message
	err = c.Update(ctx, "append", func(tx *transaction.Tx) (err error) {
		if info, msg, err = c.AppendTo(ctx, tx, tip, engine.Change{Name: "s", Operation: "append", Author: author, Committer: committer}, a); err != nil {
			return err
		}
		return tx.Set(ctx, "s", info, trust.Unchanged)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "a [1], and " + digest("extra [1]"); msg.Content[0].Text != want || !strings.Contains(c.Shown("s"), want) {
		t.Errorf("the message is %q, shown as\n%s", msg.Content[0].Text, c.Shown("s"))
	}
	files, err := c.Store.Files(ctx, info.ID)
	if err != nil || len(files) != 1 || files[0].SHA256 != digest("file [1]") || files[0].Size != int64(len("file [1]")) {
		t.Errorf("files: %+v, %v", files, err)
	}
	attachments, err := c.Store.AttachmentsOf(ctx, info.ID)
	if err != nil || len(attachments) != 3 { // with the record of the file
		t.Fatalf("attachments: %+v, %v", attachments, err)
	}
	for _, at := range attachments {
		content, _, err := c.Store.Open(ctx, at.Blob)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil || strings.Contains(string(text), "secret") || digest(string(text)) != at.SHA256 {
			t.Errorf("attachment %s is %q, %v", at.SHA256, text, err)
		}
		content.Close()
	}
}
