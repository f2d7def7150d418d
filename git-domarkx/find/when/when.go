// Package when reads the dates that users give to options such as --since.
package when

import (
	"fmt"
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Forms describes what [Since] and [Until] accept, for help texts and errors.
const Forms = "YYYY-MM-DD, YYYY-MM, a time such as 2026-11-22T15:04, today, yesterday, or how long ago, such as 12h, 3d, 2w, 6m or 1y"

// Since parses a date and returns the moment at which it begins. A date without a time zone is in
// that of now. [Forms] lists the accepted dates; the error matches [domarkx.ErrInvalid] for others.
func Since(text string, now time.Time) (time.Time, error) {
	start, _, err := parse(text, now)
	return start, err
}

// Until is like [Since], but returns the moment after the date, so that the whole day or month is
// before it.
func Until(text string, now time.Time) (time.Time, error) {
	_, end, err := parse(text, now)
	return end, err
}

// parse returns the first moment of a date, and the first one after it.
func parse(text string, now time.Time) (start, end time.Time, err error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "today":
		return today, today.AddDate(0, 0, 1), nil
	case "yesterday":
		return today.AddDate(0, 0, -1), today, nil
	}
	for _, form := range []struct {
		layout             string
		years, months, day int
		length             time.Duration
	}{
		{time.DateOnly, 0, 0, 1, 0}, {"2006-01", 0, 1, 0, 0}, {time.RFC3339, 0, 0, 0, time.Second}, {"2006-01-02T15:04:05", 0, 0, 0, time.Second},
		{time.DateTime, 0, 0, 0, time.Second}, {"2006-01-02T15:04", 0, 0, 0, time.Minute}, {"2006-01-02 15:04", 0, 0, 0, time.Minute},
	} {
		if t, err := time.ParseInLocation(form.layout, text, now.Location()); err == nil {
			return t, t.AddDate(form.years, form.months, form.day).Add(form.length), nil
		}
	}
	if t, ok := ago(text, now); ok {
		return t, t, nil
	}
	return time.Time{}, time.Time{}, fmt.Errorf("date %q: %w, expected %s", text, domarkx.ErrInvalid, Forms)
}

// ago reads a number and a unit.
func ago(text string, now time.Time) (time.Time, bool) {
	if text == "" || text[0] == '+' {
		return time.Time{}, false
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if err != nil {
		return time.Time{}, false
	}
	return before(now, int(n), text[len(text)-1])
}

// before returns the moment that is a number of hours, days, weeks, months or years before another one.
func before(now time.Time, n int, unit byte) (time.Time, bool) {
	if unit == 'h' {
		return now.Add(-time.Duration(n) * time.Hour), true
	}
	one, ok := map[byte][3]int{'d': {0, 0, 1}, 'w': {0, 0, 7}, 'm': {0, 1, 0}, 'y': {1, 0, 0}}[unit]
	return now.AddDate(-n*one[0], -n*one[1], -n*one[2]), ok
}
