package main

import (
	"strconv"
	"time"
)

// period parses the options --since and --until. It returns times in Unix seconds, 0 for an
// option that is not given; the second is the first one that is too late.
func period(since, until string) (from, to int64, err error) {
	now := time.Now()
	if since != "" {
		start, _, err := parseDate(since, now)
		if err != nil {
			return 0, 0, err
		}
		from = start.Unix()
	}
	if until != "" {
		_, end, err := parseDate(until, now)
		if err != nil {
			return 0, 0, err
		}
		to = end.Unix()
	}
	return from, to, nil
}

// parseDate returns the beginning and the end of the day, minute or second that a date names. A duration such as 2w names
// the second that long ago.
func parseDate(s string, now time.Time) (start, end time.Time, err error) {
	if t, ok := ago(s, now); ok {
		return t, t.Add(time.Second), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, t.Add(time.Second), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime} {
		t, err := time.ParseInLocation(layout, s, now.Location())
		switch {
		case err != nil:
			continue
		case layout == time.DateOnly:
			return t, t.AddDate(0, 0, 1), nil
		case len(layout) == len("2006-01-02T15:04"):
			return t, t.Add(time.Minute), nil
		}
		return t, t.Add(time.Second), nil
	}
	return start, end, usagef("%q is not a date; expected one such as 2w (h, d, w, m, y: hours, days, weeks, months, years ago), 2026-11-01 or 2026-11-01T12:00", s)
}

// ago returns the time that a duration such as 2w ends at now.
func ago(s string, now time.Time) (time.Time, bool) {
	if len(s) < 2 {
		return now, false
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 16)
	if err != nil {
		return now, false
	}
	switch count := int(n); s[len(s)-1] {
	case 'h':
		return now.Add(-time.Duration(count) * time.Hour), true
	case 'd':
		return now.AddDate(0, 0, -count), true
	case 'w':
		return now.AddDate(0, 0, -7*count), true
	case 'm':
		return now.AddDate(0, -count, 0), true
	case 'y':
		return now.AddDate(-count, 0, 0), true
	}
	return now, false
}
