package format_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

func TestWindow(t *testing.T) {
	lines := []string{"", "one", strings.Repeat("long ", 1<<17), "", strings.Repeat("x", 256<<10-1), "two", strings.Repeat("y", 3<<20)}
	text := strings.Join(lines, "\n")
	w := format.NewWindow(format.File{Content: strings.NewReader(text), Size: int64(len(text))})
	at := int64(0)
	for i, want := range lines {
		line, whole, err := w.Line(at)
		if err != nil || string(line) != want || whole != (i+1 < len(lines)) {
			t.Fatalf("line %d: %d bytes, %t, %v", i, len(line), whole, err)
		}
		at += int64(len(line)) + 1
	}
	if back, err := w.Bytes(1, 3); err != nil || string(back) != "one" {
		t.Errorf("%q, %v", back, err)
	}
	for _, n := range []int64{-1, int64(len(text)) + 1} {
		if _, err := w.Bytes(0, n); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	shorter := format.NewWindow(format.File{Content: strings.NewReader(text[:10]), Size: 20})
	for range 2 { // also when it is tried again
		if _, _, err := shorter.Line(0); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("a file that became shorter: %v", err)
		}
	}
}
