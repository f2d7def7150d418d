//go:build linux

package process_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/process"
)

// TestLimits ends commands that are over a limit with everything that they started, and no others.
func TestLimits(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		for name, c := range map[string]struct{ script, over string }{
			"fork bomb":                            {"b() { b | b & }; b; sleep 1000", "more than 60 processes"},
			"daemons":                              {"while :; do setsid -f sleep 1000; done", "more than 60 processes"},
			"memory":                               {"head -c 1G /dev/zero | sort >/dev/null; sleep 1000", "more than 104857600 bytes of memory"},
			"neither":                              {"for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1 & done; wait", ""},
			"memory of several":                    {"for i in 1 2 3 4 5; do (x=$(head -c 30M /dev/zero | tr '\\0' x); sleep 1000; :) & done; sleep 1000", "more than 104857600 bytes of memory"},
			"memory of children that end together": {"x=$(head -c 12M /dev/zero | tr '\\0' x); for k in 1 2 3 4 5 6 7 8 9 10; do for i in $(seq 20); do (sleep 0.1; :) & done; wait; done", ""},
			"ends by itself":                       {"exit 3", ""},
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				spec := scriptIn(dir, c.script)
				spec.Processes, spec.Memory = 60, 100<<20
				bounded, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				status, err := r.Run(bounded, spec, &bytes.Buffer{})
				if err != nil || status.TimedOut || c.over == "" && status.Over != "" || !strings.HasPrefix(status.Over, c.over) {
					t.Errorf("%+v, %v", status, err)
				}
				idle(t, dir)
			})
		}
	})
}
