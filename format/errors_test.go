package format_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

var errBroken = errors.New("broken")

// broken are messages whose second one cannot be read.
type broken struct{ format.Conversation }

func (m broken) At(k int) (domarkx.WrittenMessage, error) {
	if k == 1 {
		return domarkx.WrittenMessage{}, errBroken
	}
	return m.Conversation.At(k)
}

// TestStreamErrors: a document with a message that cannot be read is not returned without it.
func TestStreamErrors(t *testing.T) {
	three := make(format.Conversation, 3)
	if doc, err := (format.Stream{Messages: broken{three}}).Document(); !errors.Is(err, errBroken) || doc != nil {
		t.Errorf("%v, %v", doc, err)
	}
	header := domarkx.NewHeader()
	header.SnapshotID = "i"
	doc, err := (format.Stream{Header: header, Messages: three, Damage: []*syntax.Error{{Msg: "d"}}, Includes: []domarkx.Include{{Path: "p"}}}).Document()
	if err != nil || len(doc.Conversation) != 3 || doc.Header.SnapshotID != "i" || len(doc.Damage) != 1 || len(doc.Includes) != 1 {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestEncoding: a document in memory is written as one that is not.
func TestEncoding(t *testing.T) {
	type writer = func(io.Writer) error
	doc := &domarkx.Document{Conversation: make([]domarkx.WrittenMessage, 2)}
	for name, test := range map[string]struct {
		begin, write error
		want         string
	}{"all is well": {nil, nil, "2 messages"}, "it cannot begin": {errBroken, nil, ""}, "it cannot end": {nil, errBroken, "2 messages"}} {
		out, err := format.Encoding(func(_ domarkx.Header, m format.Messages, to format.Target) (writer, error) {
			if to.Session != "s" || m.Len() != 2 {
				t.Errorf("%s: the target is %+v", name, to)
			}
			return func(w io.Writer) error {
				_, err := io.WriteString(w, "2 messages")
				return errors.Join(err, test.write)
			}, test.begin
		})(doc, format.Target{Session: "s"})
		if want := errors.Join(test.begin, test.write); (err == nil) != (want == nil) || want != nil && !errors.Is(err, errBroken) || string(out) != test.want {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

// TestWindowErrors: an error of the file is returned as it is, also after lines that were read.
func TestWindowErrors(t *testing.T) {
	text := strings.Repeat("line\n", 100<<10)
	content := &switched{ReaderAt: strings.NewReader(text)}
	w := format.NewWindow(format.File{Content: content, Size: int64(len(text))})
	if got, err := w.Bytes(0, 5); err != nil || string(got) != "line\n" {
		t.Errorf("%q, %v", got, err)
	}
	content.err = errBroken
	if _, err := w.Bytes(int64(len(text))-5, 5); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
	if _, _, err := w.Line(300 << 10); !errors.Is(err, errBroken) {
		t.Errorf("a line: %v", err)
	}
	content.err = nil
	if got, whole, err := w.Line(300<<10 - 300<<10%5); err != nil || string(got) != "line" || !whole {
		t.Errorf("after the error: %q, %t, %v", got, whole, err)
	}
	for _, start := range []int64{-1, int64(len(text)) + 1} {
		if _, err := w.Bytes(start, 0); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("at %d: %v", start, err)
		}
	}
}

// switched is content that can be broken.
type switched struct {
	io.ReaderAt
	err error
}

func (s *switched) ReadAt(p []byte, offset int64) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.ReaderAt.ReadAt(p, offset)
}

// TestSalvageOf: items before damage are read also if its place is unknown.
func TestSalvageOf(t *testing.T) {
	data := []byte(`{"list":[{"id":1,"text":"a"},{"id":2,"te`)
	v, _ := jsonvalue.ParsePartial(data)
	read, gaps := format.Salvage(data, v, errBroken, isItem, nil, "list")
	list, _ := read.Get("list")
	if len(list.Items()) != 1 || len(gaps) == 0 {
		t.Errorf("read as %s with gaps %v", read.JSON(), gaps)
	}
	reports := format.Damaged("d", data, errBroken, gaps, "items")
	if len(reports) == 0 || !errors.Is(reports[0], errBroken) || !strings.Contains(reports[0].Error(), "could not be read") {
		t.Errorf("reports %v", reports)
	}
}
