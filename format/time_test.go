package format_test

import (
	"testing"
	"time"

	"github.com/domarkx/domarkx/format"
)

func TestParseTime(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"2025-11-27T10:30:00.000Z", "2025-11-27T10:30:00Z"},
		{"2025-11-27t10:30:00z", "2025-11-27T10:30:00Z"},
		{"2025-11-27 10:30:00.5+02:00", "2025-11-27T08:30:00.5Z"},
		{"2025-11-27T10:30:00-0530", "2025-11-27T16:00:00Z"},
		{"2025-11-27T10:30:00+08", "2025-11-27T02:30:00Z"},
		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"},
		{"2016-12-31T18:59:60.25-05:00", "2017-01-01T00:00:00.25Z"},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"2025-11-27T10:30:60Z", ""},
		{"2025-11-27T10:30:61Z", ""},
		{"2025-02-30T10:30:00Z", ""},
		{"2025-11-27T24:00:00Z", ""},
		{"2025-11-27T10:30:00", ""},
		{"2025-11-27T10:30:00.", ""},
		{"2025-11-27T10:30:00.Z", ""},
		{"2025-11-27T10:30:00,5Z", ""},
		{"2025-11-27T10:30:00 Z", ""},
		{"2025-11-27", ""},
		{"yesterday", ""},
		{"", ""},
	} {
		got := ""
		if at, ok := format.ParseTime(test.text); ok {
			got = at.UTC().Format(time.RFC3339Nano)
		}
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestParseLocalTime(t *testing.T) {
	for text, want := range map[string]string{
		"2025-11-27T10:30:00+02:00":  "2025-11-27T08:30:00Z",
		"2025-11-27T10:30:00":        "2025-11-27T10:30:00Z",
		"2025-11-27 10:30:00.250000": "2025-11-27T10:30:00.25Z",
		"2025-11-27T10:30:00ZZ":      "",
		"2025-11-27T10:30":           "",
		"2025-11-27":                 "",
		"":                           "",
	} {
		got := ""
		if at, ok := format.ParseLocalTime(text); ok {
			got = at.UTC().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("2025-11-27T10:30:00.000Z")
	f.Add("2016-12-31 23:59:60+0000")
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := format.ParseTime(s)
		if !ok {
			return
		}
		if again, ok := format.ParseTime(at.Format(time.RFC3339Nano)); !ok || !again.Equal(at) {
			t.Errorf("%q is %v, which reads as %v, %t", s, at, again, ok)
		}
	})
}

func TestMillisTime(t *testing.T) {
	for millis, want := range map[int64]string{0: "", 1: "1970-01-01T00:00:00.001Z", 1772359200500: "2026-03-01T10:00:00.500Z", -1: "1969-12-31T23:59:59.999Z"} {
		if got := format.MillisTime(millis); got != want {
			t.Errorf("%d is %q, want %q", millis, got, want)
		}
	}
}
