package transaction_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A redactor replaces a word in the session with a tip, and fails if asked to.
type redactor struct {
	transaction.Redaction // for imports
	tip, from, to         string
	err, failure          error // of Document, and of what that returns
	remembered            *[]string
}

func (r redactor) Document(_ context.Context, tip string, always bool) (transaction.Redaction, error) {
	if tip != r.tip && !always {
		return nil, r.err
	}
	return r, r.err
}

func (r redactor) Bytes(_ context.Context, content []byte) ([]byte, error) {
	return bytes.ReplaceAll(content, []byte(r.from), []byte(r.to)), r.failure
}

func (r redactor) Copy(_ context.Context, w io.Writer, document io.ReaderAt, size int64) error {
	_, err := io.WriteString(w, "copied without secrets")
	return errors.Join(err, r.failure)
}

func (r redactor) Secrets() int { return 1 }

func (r redactor) Remember(_ context.Context, history iter.Seq2[domarkx.Info, error]) error {
	for info, err := range history {
		if err != nil {
			return err
		}
		*r.remembered = append(*r.remembered, info.ID)
	}
	return r.failure
}

// TestFilter adds to a redacted session, to one that was never redacted, to a new one, and what an author wrote.
func TestFilter(t *testing.T) {
	c := enginetest.New(t)
	ctx := t.Context()
	tip, _ := c.Appended("redacted", "hello"), c.Appended("other", "hello")
	var remembered []string
	c.Redacts(redactor{tip: tip.ID, from: "secret", to: "[1]", remembered: &remembered})
	message := enginetest.Saying(domarkx.User, "a secret")
	value := jsonvalue.ObjectValue(jsonvalue.Member{Name: "k", Value: jsonvalue.StringValue("secret")})
	large := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(large, []byte("secret"), 0o600), os.Truncate(large, 64<<20+1)); err != nil {
		t.Fatal(err)
	}
	err := c.Update(ctx, "test", func(tx *transaction.Tx) error {
		for session, want := range map[string]string{"redacted": "[1]", "other": "secret", "new": "secret", "always": "[1]", "author": "secret"} {
			f, err := tx.Filter(ctx, session)
			switch session {
			case "always":
				f, err = tx.FilterAlways(ctx, session)
			case "author":
				f = transaction.AsIs()
			}
			if err != nil {
				return err
			}
			if got, err := f.String(ctx, "a secret"); err != nil || got != "a "+want {
				t.Errorf("%q: text %q, %v", session, got, err)
			}
			if got, err := f.Value(ctx, value); err != nil || got.JSON() != `{"k":"`+want+`"}` {
				t.Errorf("%q: value %s, %v", session, got.JSON(), err)
			}
			if got, err := f.Message(ctx, message); err != nil || got.Content[0].Text != "a "+want {
				t.Errorf("%q: message %+v, %v", session, got, err)
			}
			if _, size, err := tx.StoreAttachment(ctx, f, strings.NewReader("a secret")); err != nil || size != int64(len("a "+want)) {
				t.Errorf("%q: attachment of %d bytes, %v", session, size, err)
			}
			file, err := os.Open(large)
			if err != nil {
				return err
			}
			_, size, err := tx.StoreAttachment(ctx, f, file)
			if file.Close(); err != nil || (size == int64(len("copied without secrets"))) != (want == "[1]") {
				t.Errorf("%q: large attachment of %d bytes, %v", session, size, err)
			}
		}
		return nil
	})
	if err != nil || len(remembered) != 1 || remembered[0] != tip.ID { // the other session does not exist
		t.Errorf("remembered for %q, %v", remembered, err)
	}
}

// TestFilterFails: nothing is added unredacted if redacting fails, and nothing at all without a filter.
func TestFilterFails(t *testing.T) {
	c := enginetest.New(t)
	ctx := t.Context()
	tip := c.Appended("s", "hello")
	broken := errors.New("damaged")
	message := enginetest.Saying(domarkx.User, "a secret")
	in := func(fn func(tx *transaction.Tx) error) error { return c.Update(ctx, "test", fn) }
	c.Redacts(redactor{tip: "another", err: broken})
	if err := in(func(tx *transaction.Tx) error { _, err := tx.Filter(ctx, "s"); return err }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	all := func(tx *transaction.Tx, f transaction.Filter) map[string]error {
		_, text := f.String(ctx, "secret")
		_, bytes := f.Bytes(ctx, []byte("secret"))
		_, value := f.Value(ctx, jsonvalue.StringValue("secret"))
		_, message := f.Message(ctx, message)
		_, _, attachment := tx.StoreAttachment(ctx, f, strings.NewReader("secret"))
		return map[string]error{"String": text, "Bytes": bytes, "Value": value, "Message": message, "StoreAttachment": attachment}
	}
	var remembered []string
	c.Redacts(redactor{tip: tip.ID, from: "secret", to: "[1]", failure: broken, remembered: &remembered})
	err := in(func(tx *transaction.Tx) error {
		f, err := tx.Filter(ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range all(tx, f) {
			if !errors.Is(err, broken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, _, err = tx.StoreAttachment(ctx, f, iotest.ErrReader(io.ErrClosedPipe))
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a broken file: %v", err)
		}
		for name, err := range all(tx, transaction.Filter{}) {
			if err == nil {
				t.Errorf("%s without a filter: no error", name)
			}
		}
		if _, err := tx.Commit(ctx, transaction.Filter{}, domarkx.Commit{State: &domarkx.State{}}); err == nil {
			t.Error("a commit without a filter: no error")
		}
		if _, err := tx.Append(ctx, transaction.Filter{}, domarkx.Commit{State: &domarkx.State{}, Parents: []string{tip.ID}}); err == nil {
			t.Error("a message without a filter: no error")
		}
		return tx.Set(ctx, "copy", tip, trust.Unchanged)
	})
	if _, e := c.Store.Tip(ctx, "copy"); !errors.Is(err, broken) || !errors.Is(e, domarkx.ErrNotFound) {
		t.Errorf("the numbers of secrets cannot be recorded: %v, %v", err, e)
	}
	// A redactor that leaves no JSON must not lose the message silently.
	c.Redacts(redactor{tip: tip.ID, from: "secret", to: `"`, remembered: &remembered})
	err = in(func(tx *transaction.Tx) error {
		f, err := tx.Filter(ctx, "s")
		if err != nil {
			return err
		}
		if got, err := f.Message(ctx, message); err == nil || got.Content[0].Text != "a secret" {
			t.Errorf("a message that is not JSON: %+v, %v", got, err)
		}
		if _, err := f.Value(ctx, jsonvalue.StringValue("secret")); err == nil {
			t.Error("a value that is not JSON: no error")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTrustBeforeMove: the trust in a session is extended before the session moves, and after a merge is stored.
func TestTrustBeforeMove(t *testing.T) {
	c := enginetest.New(t)
	ctx := t.Context()
	tip := c.Appended("s", "hello")
	broken := errors.New("no room")
	var at []string
	extend := func(_ context.Context, _ *trust.Manager, before, after domarkx.Info) error {
		info, err := c.Store.Tip(ctx, "t")
		if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			t.Error(err)
		}
		at = append(at, info.ID)
		if before.ID != "" || before.Name != "t" || after.ID != tip.ID || after.Name != "t" {
			t.Errorf("from %+v to %+v", before, after)
		}
		return broken
	}
	if err := c.Update(ctx, "test", func(tx *transaction.Tx) error { return tx.Set(ctx, "t", tip, extend) }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := c.Update(ctx, "test", func(tx *transaction.Tx) error { return tx.SetMerged(ctx, "t", tip, extend) }); !errors.Is(err, broken) || !strings.Contains(err.Error(), "is stored") {
		t.Errorf("%v", err)
	}
	if len(at) != 2 || at[0] != "" || at[1] != tip.ID {
		t.Errorf("extended at %q", at)
	}
}
