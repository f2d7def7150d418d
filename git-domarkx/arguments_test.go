package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// wholeNames are the commands whose NAME has to be a whole one, or no session's.
var wholeNames = []string{
	"rm", "redact", "restore", // the same part could mean another session after them
	"fetch", "pull", // of the remote's sessions
	"model test", // a model
}

// TestPartsOfNames calls every command that has an argument NAME with a part of two names. So it fails for a new
// command that takes only whole ones.
func TestPartsOfNames(t *testing.T) {
	p := worked(t)
	for _, name := range []string{"twice/one", "twice/two"} {
		p.write("a.md", "## user\n\na\n")
		if status, _, stderr := invoke(t, "", "append", "--new", "-m", "x", name); status != exitOK {
			t.Fatal(stderr)
		}
	}
	options := map[string][]string{
		"append": {"-m", "x"}, "chat": {"-m", "x", "--model", "m"}, "export": {"--format", "md"},
	}
	tried := 0
	for _, leaf := range model(t).Leaves(false) {
		verb := clidoc.VerbOf(leaf)
		i := slices.IndexFunc(leaf.Positional, func(v *kong.Positional) bool { return strings.HasPrefix(v.Name, "NAME") })
		if i < 0 {
			continue
		}
		args := append(strings.Fields(verb), options[verb]...)
		for at, v := range leaf.Positional {
			switch {
			case at == i:
				args = append(args, "wice"+strings.TrimSuffix(strings.TrimPrefix(v.Name, "NAME"), "[#K]"))
			case v.Name == "REMOTE":
				args = append(args, ".")
			case strings.Contains(v.Name, "="):
				args = append(args, "key=value")
			default:
				args = append(args, ".")
			}
		}
		for at := range args {
			args[at] = strings.ReplaceAll(args[at], "wice#K", "wice#0")
		}
		_, _, stderr := invoke(t, "", args...)
		if fits := strings.Contains(stderr, `"wice" fits 2 sessions`); fits == slices.Contains(wholeNames, verb) {
			t.Errorf("%q: %s", args, stderr)
		}
		tried++
	}
	if tried < 15 {
		t.Errorf("only %d commands have a NAME", tried)
	}
}
