package main

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/plugins"
)

func TestReport(t *testing.T) {
	syntax := &syntax.Error{Path: "a.md", Line: 3, Column: 7, Msg: "expected a colon"}
	for name, test := range map[string]struct {
		err    error
		status int
		text   string
	}{
		"done":         {nil, 0, ""},
		"answer is no": {errNo, 1, ""},
		"not there":    {fmt.Errorf("session %q: %w", "a", domarkx.ErrNoSession), 128, "git-domarkx: session \"a\": not found; git domarkx list shows those there are\n"},
		"almost there": {fmt.Errorf("session %q: %w, did you mean \"b\"?", "a", domarkx.ErrNoSession), 128, "git-domarkx: session \"a\": not found, did you mean \"b\"?\n"},
		"bad document": {fmt.Errorf("importing: %w", syntax), 1, "a.md:3:7: expected a colon\n"},
		"with a hint":  {fmt.Errorf("%w; it is kept", syntax), 1, "a.md:3:7: expected a colon; it is kept\n"},
		"several": {errors.Join(syntax, errors.New("disk full")), 1,
			"a.md:3:7: expected a colon\ngit-domarkx: disk full\n"},
		"no, and more": {errors.Join(errNo, errors.Join(errors.New("disk full"), nil)), 128, "git-domarkx: disk full\n"},
		"no twice":     {errors.Join(errNo, errNo), 1, ""},
		"usage":        {usagef("no such thing"), 129, "git-domarkx: no such thing\nSee 'git domarkx help'.\n"},
		"usage shown":  {errUsageShown, 129, ""},
		"no resource": {fmt.Errorf("workspace %q: %w", "w", &plugins.ResourceError{Doing: "opening", Resource: "r", Err: errors.New("no engine")}), 1,
			"git-domarkx: workspace \"w\": opening resource \"r\": no engine\n"},
		"no room for a resource": {&plugins.ResourceError{Doing: "opening", Resource: "r", Err: syscall.ENOSPC}, 128, "git-domarkx: opening resource \"r\": no space left on device\n"},
		"interrupted":            {signalError{syscall.SIGINT}, 130, ""},
		"terminated":             {fmt.Errorf("fetching: %w", signalError{syscall.SIGTERM}), 143, ""},
		"hostile text":           {errors.New("session \"\x1b[31m\""), 128, "git-domarkx: session \"\\x1b[31m\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if got := report(&b, test.err); got != test.status {
				t.Errorf("status %d, expected %d", got, test.status)
			}
			if b.String() != test.text {
				t.Errorf("printed %q, expected %q", b.String(), test.text)
			}
		})
	}
}
