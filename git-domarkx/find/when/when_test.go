package when_test

import (
	"errors"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/when"
)

func TestDates(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 11, 22, 15, 30, 0, 0, zone)
	tests := map[string]struct{ since, until string }{
		"2026-11-20":           {"2026-11-20T00:00:00+02:00", "2026-11-21T00:00:00+02:00"},
		"2026-02":              {"2026-02-01T00:00:00+02:00", "2026-03-01T00:00:00+02:00"},
		"2026-11-20T10:00:00Z": {"2026-11-20T10:00:00Z", "2026-11-20T10:00:01Z"},
		"2026-11-20T10:00":     {"2026-11-20T10:00:00+02:00", "2026-11-20T10:01:00+02:00"},
		"2026-11-20 10:00:05":  {"2026-11-20T10:00:05+02:00", "2026-11-20T10:00:06+02:00"},
		"today":                {"2026-11-22T00:00:00+02:00", "2026-11-23T00:00:00+02:00"},
		"yesterday":            {"2026-11-21T00:00:00+02:00", "2026-11-22T00:00:00+02:00"},
		"12h":                  {"2026-11-22T03:30:00+02:00", "2026-11-22T03:30:00+02:00"},
		"3d":                   {"2026-11-19T15:30:00+02:00", "2026-11-19T15:30:00+02:00"},
		"2w":                   {"2026-11-08T15:30:00+02:00", "2026-11-08T15:30:00+02:00"},
		"6m":                   {"2026-05-22T15:30:00+02:00", "2026-05-22T15:30:00+02:00"},
		"1y":                   {"2025-11-22T15:30:00+02:00", "2025-11-22T15:30:00+02:00"},
	}
	for text, want := range tests {
		since, err := when.Since(text, now)
		if err != nil || since.Format(time.RFC3339) != want.since {
			t.Errorf("since %s: %v, %v, want %s", text, since, err, want.since)
		}
		until, err := when.Until(text, now)
		if err != nil || until.Format(time.RFC3339) != want.until {
			t.Errorf("until %s: %v, %v, want %s", text, until, err, want.until)
		}
	}
	for _, text := range []string{"", "d", "soon", "-3d", "+3d", "3", "3x", "2026-13-01", "99999999d", "2026-11-20Z"} {
		if got, err := when.Since(text, now); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("since %q: %v, %v", text, got, err)
		}
	}
}
