package format_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

func TestWindow(t *testing.T) {
	t.Run("keeping", func(t *testing.T) { testWindow(t, format.NewWindow, true) })
	t.Run("passing", func(t *testing.T) { testWindow(t, format.NewPassingWindow, false) })
}

// testWindow reads through a window, whose returned bytes must not change if it keeps them.
func testWindow(t *testing.T, newWindow func(format.File) *format.Window, keeps bool) {
	lines := []string{"", "one", strings.Repeat("long ", 1<<17), "", strings.Repeat("x", 256<<10-1), "two", strings.Repeat("y", 3<<20)}
	text := strings.Join(lines, "\n")
	w := newWindow(format.File{Content: strings.NewReader(text), Size: int64(len(text))})
	var kept [][]byte
	at := int64(0)
	for i, want := range lines {
		line, whole, err := w.Line(at)
		if err != nil || string(line) != want || whole != (i+1 < len(lines)) {
			t.Fatalf("line %d: %d bytes, %t, %v", i, len(line), whole, err)
		}
		kept = append(kept, line)
		at += int64(len(line)) + 1
	}
	if back, err := w.Bytes(1, 3); err != nil || string(back) != "one" {
		t.Errorf("%q, %v", back, err)
	}
	if got := bytes.Join(kept, []byte("\n")); keeps && string(got) != text {
		t.Error("what was read before is something else now")
	}
	for _, n := range []int64{-1, int64(len(text)) + 1} {
		if _, err := w.Bytes(0, n); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	shorter := newWindow(format.File{Content: strings.NewReader(text[:10]), Size: 20})
	for range 2 { // also when it is tried again
		if _, _, err := shorter.Line(0); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("a file that became shorter: %v", err)
		}
	}
}
