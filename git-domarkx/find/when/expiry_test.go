package when_test

import (
	"errors"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/when"
)

func TestExpiries(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"90d": "2026-08-24T15:30:00Z", "90.days.ago": "2026-08-24T15:30:00Z", "90 days ago": "2026-08-24T15:30:00Z", "2.weeks": "2026-11-08T15:30:00Z",
		"12h": "2026-11-22T03:30:00Z", "6m": "2026-05-22T15:30:00Z", "1.year.ago": "2025-11-22T15:30:00Z", "2026-08-01": "2026-08-01T00:00:00Z",
		"now": "2026-11-22T15:30:00Z", "999999999d": "1970-01-01T00:00:01Z", "999999999h": "1970-01-01T00:00:01Z", "999999999y": "1970-01-01T00:00:01Z",
	} {
		since, newest, err := when.Expiry(text, now)
		if err != nil || newest != 0 || since.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %d, %v, want %s", text, since, newest, err, want)
		}
	}
	if since, newest, err := when.Expiry("50", now); err != nil || !since.IsZero() || newest != 50 {
		t.Errorf("50: %v, %d, %v", since, newest, err)
	}
	if since, newest, err := when.Expiry("never", now); err != nil || !since.IsZero() || newest != 0 {
		t.Errorf("never: %v, %d, %v", since, newest, err)
	}
	for _, text := range []string{"", "0", "00", "050", "-1", "-5d", "0d", "0h", "0.days.ago", "90k", "90x", "90.days.hence", "9999999999d", "99999999999", "1.5d",
		"tomorrow", "nonsense", "2026-11-23", "2030-01-01", "all", "d", " 90d", "90d ", "٣d", "1e3"} {
		if since, newest, err := when.Expiry(text, now); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v, %d, %v, want an error", text, since, newest, err)
		}
	}
}
