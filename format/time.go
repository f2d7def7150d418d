package format

import (
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// ParseLocalTime parses the times that [ParseTime] accepts, and also a date and time without a zone
// (ISO 8601), which it interprets as UTC.
func ParseLocalTime(s string) (time.Time, bool) {
	if t, ok := ParseTime(s); ok {
		return t, true
	}
	return ParseTime(s + "Z")
}

// ParseTime parses a date and time with a zone (RFC 3339, section 5.6), and reports whether it is
// valid. Like other readers, it also accepts a space for the T, a zone without minutes or colon, and a
// leap second at the end of a day in UTC, which it returns as the following second.
func ParseTime(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || !strings.ContainsRune("Tt ", rune(s[10])) || strings.Contains(s, ",") {
		return time.Time{}, false
	}
	date, clock, rest := s[:10], s[11:17], strings.ToUpper(s[17:])
	second, leap := strings.CutPrefix(rest, "60")
	if leap {
		rest = "59" + second
	}
	for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
		t, err := time.Parse("2006-01-02T15:04:05"+zone, date+"T"+clock+rest)
		if err != nil {
			continue
		}
		if leap {
			t = t.Add(time.Second)
		}
		if u := t.UTC(); leap && (u.Hour() != 0 || u.Minute() != 0) {
			break
		}
		return t, true
	}
	return time.Time{}, false
}

// SnapshotTime returns the time of the snapshot with a header, in UTC; the beginning of 1970 if it is unknown.
func SnapshotTime(h domarkx.Header) time.Time {
	if t, ok := ParseLocalTime(h.ImportTimestamp); ok {
		return t.UTC()
	}
	return time.Unix(0, 0).UTC()
}

// MillisTime formats a time in milliseconds since 1970, UTC, as [ISOTime]; "" for 0.
func MillisTime(millis int64) string {
	if millis == 0 {
		return ""
	}
	return time.UnixMilli(millis).UTC().Format(ISOTime)
}

// ISOTime is the layout in which agents write times, for [time.Time.Format].
const ISOTime = "2006-01-02T15:04:05.000Z"
