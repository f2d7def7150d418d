package chat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// many is an answer with n different calls.
func many(n int) reply {
	parts := make([]provider.Part, n)
	for i := range parts {
		parts[i] = provider.Call{ID: fmt.Sprintf("toolu_%d", i), Name: "files__search", Arguments: fmt.Sprintf(`{"pattern": "x%d"}`, i)}
	}
	return says(parts...)
}

// TestManyCalls gives one answer more calls than the limit allows.
func TestManyCalls(t *testing.T) {
	const calls, limit = 8, 3
	count := func(s *site, text string) int { return strings.Count(s.show("s"), text) }
	for name, test := range map[string]struct {
		more    []bool // the user's answers; nil if nobody can be asked
		made    int
		stopped bool
	}{
		"nobody is asked":  {nil, limit, true},
		"the user says no": {[]bool{true, false}, 2 * limit, true},
		"the user agrees":  {[]bool{true, true}, calls, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, many(calls), say("end"))
			s.session("s", config)
			s.limits.Calls = limit
			var asked []string
			if test.more != nil {
				s.more = func(_ context.Context, reason string) (bool, error) {
					asked = append(asked, reason)
					return test.more[len(asked)-1], nil
				}
			}
			_, err := s.turn(t.Context(), "s", "do")
			var stopped *chat.StoppedError
			if errors.As(err, &stopped) != test.stopped || !test.stopped && err != nil {
				t.Fatal(err)
			}
			if len(asked) != len(test.more) || len(asked) > 0 && asked[0] != "the turn made 3 calls, its limit" {
				t.Errorf("asked %q", asked)
			}
			if made := count(s, `"ok": true`); made != test.made {
				t.Errorf("%d calls, want %d", made, test.made)
			}
			if !test.stopped {
				return
			}
			// Another message does not wait for the calls beyond the limit.
			s.more, s.model.script = nil, []reply{say("end")}
			if got := s.must("s", "leave that"); got.Text != "end" {
				t.Errorf("another message: %+v", got)
			}
			if made := count(s, `"ok": true`); made != min(calls, test.made+limit) {
				t.Errorf("%d calls after another message", made)
			}
			if declined := count(s, `"declined": true`); declined != max(0, calls-test.made-limit) {
				t.Errorf("%d calls declined", declined)
			}
		})
	}
}
