package when

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// ExpiryForms describes what [Expiry] accepts, for help texts and errors.
const ExpiryForms = "an age such as 90d, 12w, 6m, 1y or 90.days.ago, a date such as 2026-08-01, a number of versions such as 50, now or never"

var ages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([1-9][0-9]{0,8})(?:([hdwmy])|[. ](hour|day|week|month|year)s?(?:[. ]ago)?)$`)
})

// Expiry parses an age or a date and returns the moment from which on things are kept, or a number and returns how many of the
// newest are kept. Both are zero for "never": everything is kept. [ExpiryForms] lists the accepted forms; the error matches
// [domarkx.ErrInvalid] for other texts, and for a moment in the future.
func Expiry(text string, now time.Time) (since time.Time, newest int, err error) {
	bad := fmt.Errorf("%q: %w, expected %s", text, domarkx.ErrInvalid, ExpiryForms)
	switch text {
	case "now":
		return now, 0, nil
	case "never":
		return time.Time{}, 0, nil
	}
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		if text[0] == '0' {
			return time.Time{}, 0, bad
		}
		return time.Time{}, int(n), nil
	}
	if m := ages().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		since, _ = before(now, n, (m[2] + m[3])[0])
		if epoch := time.Unix(1, 0); since.Before(epoch) || since.After(now) { // older than any commit, or out of range
			since = epoch
		}
		return since, 0, nil
	}
	if since, err = Since(text, now); err != nil || since.After(now) || strings.HasPrefix(text, "0") {
		return time.Time{}, 0, bad
	}
	return since, 0, nil
}
