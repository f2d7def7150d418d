package main

import (
	"os"
	"testing"

	"github.com/domarkx/domarkx/plugins/permit"
)

// TestAgentNeedsAPermit starts a program with permits for nothing, for another one, and for it.
func TestAgentNeedsAPermit(t *testing.T) {
	inv := newInvocation(t.Context(), os.Getenv, stdio{os.Stdin, os.Stdout, os.Stderr}, &globals{}, nil)
	other := permit.Issue("s", permit.What{Program: "false"}, permit.Option, permit.Shared)
	for _, p := range []permit.Permit{{}, other} {
		if err := inv.agent(t.Context(), p, nil, []string{"true"}).Run(); err == nil {
			t.Errorf("started with a permit for %q", p.What().Program)
		}
	}
	own := permit.Issue("s", permit.What{Program: "true"}, permit.Option, permit.Shared)
	if err := inv.agent(t.Context(), own, nil, []string{"true"}).Run(); err != nil {
		t.Error(err)
	}
}
