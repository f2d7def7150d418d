package format_test

import (
	"testing"

	"github.com/domarkx/domarkx/format"
)

func TestPartial(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 0, "ü": 0, "a\xc3": 1, "\xe2": 1, "\xe2\x82": 2, "€": 0, "\xf0\x9f\x98": 3, "😀": 0, "\x80": 0, "\x80\x80\x80\x80": 0, "a\xff": 0, "\xc3a": 0,
	} {
		if got := format.Partial([]byte(text)); got != want {
			t.Errorf("%q: got %d, expected %d", text, got, want)
		}
	}
}
