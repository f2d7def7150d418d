package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

// A redactor replaces a word in the sessions with a tip, and fails if asked to.
type redactor struct {
	engine.Redactor // for documents, which are not added here
	tip, from, to   string
	err             error
}

func (r redactor) Filter(_ context.Context, tip string) (func(context.Context, []byte) ([]byte, bool, error), error) {
	if tip != r.tip {
		return nil, r.err
	}
	return func(_ context.Context, text []byte) ([]byte, bool, error) {
		return bytes.ReplaceAll(text, []byte(r.from), []byte(r.to)), bytes.Contains(text, []byte(r.from)), r.err
	}, nil
}

// TestFilter adds to a redacted session and to one that was never redacted.
func TestFilter(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	c.Redacts(redactor{tip: "redacted", from: "secret", to: "[1]"})
	message := enginetest.Saying(domarkx.User, "a secret")
	value := jsonvalue.ObjectValue(jsonvalue.Member{Name: "k", Value: jsonvalue.StringValue("secret")})
	for tip, want := range map[string]string{"redacted": "[1]", "other": "secret", "": "secret"} {
		f, err := c.Filter(ctx, tip)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.String(ctx, "a secret"); err != nil || got != "a "+want {
			t.Errorf("%q: text %q, %v", tip, got, err)
		}
		if got, err := f.Value(ctx, value); err != nil || got.JSON() != `{"k":"`+want+`"}` {
			t.Errorf("%q: value %s, %v", tip, got.JSON(), err)
		}
		if got, err := f.Message(ctx, message); err != nil || got.Content[0].Text != "a "+want {
			t.Errorf("%q: message %+v, %v", tip, got, err)
		}
		for content, now := range map[string]string{"a secret": "a " + want, "clean": "clean", "\x00 secret": "\x00 secret"} {
			r, err := f.Reader(ctx, strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != now {
				t.Errorf("%q: read %q, %v; want %q", tip, got, err, now)
			}
			got, err := f.File(ctx, []byte(content))
			if err != nil || (got == nil) != (now == content) || got != nil && string(got) != now {
				t.Errorf("%q: file %q, %v; want %q", tip, got, err, now)
			}
		}
	}
}

// TestFilterFails checks that nothing is added unredacted if redacting fails.
func TestFilterFails(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	broken := errors.New("damaged")
	message := enginetest.Saying(domarkx.User, "a secret")
	value := jsonvalue.StringValue("secret")
	c.Redacts(redactor{tip: "x", from: "secret", to: "[1]", err: broken})
	if _, err := c.Filter(ctx, "y"); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	f, err := c.Filter(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	_, text := f.String(ctx, "secret")
	_, file := f.File(ctx, []byte("secret"))
	_, reader := f.Reader(ctx, strings.NewReader("secret"))
	_, unread := f.Reader(ctx, iotest.ErrReader(broken))
	_, valued := f.Value(ctx, value)
	_, messaged := f.Message(ctx, message)
	for name, err := range map[string]error{"String": text, "File": file, "Reader": reader, "Reader of a broken file": unread, "Value": valued, "Message": messaged} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A redactor that leaves no JSON must not lose the message silently.
	c.Redacts(redactor{tip: "x", from: "secret", to: `"`})
	if f, err = c.Filter(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Message(ctx, message); err == nil || got.Content[0].Text != "a secret" {
		t.Errorf("a message that is not JSON: %+v, %v", got, err)
	}
	if _, err := f.Value(ctx, jsonvalue.StringValue("secret")); err == nil {
		t.Error("a value that is not JSON: no error")
	}
}

// TestAddedIsRedacted appends to a redacted session.
func TestAddedIsRedacted(t *testing.T) {
	c := newClone(t)
	tip := c.Appended("s", "Hello.")
	c.Redacts(redactor{tip: tip.ID, from: "secret", to: "[1]"})
	c.Appended("s", "a secret")
	if got := c.Shown("s"); strings.Contains(got, "secret") || !strings.Contains(got, "a \\[1]") && !strings.Contains(got, "a [1]") {
		t.Errorf("%s", got)
	}
	c.Fsck()
}
