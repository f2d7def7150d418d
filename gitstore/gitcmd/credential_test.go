package gitcmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestPassword(t *testing.T) {
	dir := gittest.Init(t)
	askpass := filepath.Join(t.TempDir(), "askpass")
	if err := os.WriteFile(askpass, []byte("#!/bin/sh\necho asked\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "config", "credential.https://models.example.helper", `!f() { test "$1" = get && printf 'username=any\npassword=the key\n'; }; f`)
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env("GIT_ASKPASS="+askpass))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := g.Password(t.Context(), "https://models.example/v1", false); got != "the key" || err != nil {
		t.Errorf("with a helper: %q, %v", got, err)
	}
	if got, err := g.Password(t.Context(), "https://other.example/v1", false); got != "" || err != nil {
		t.Errorf("for another host: %q, %v", got, err)
	}
	if _, err := g.Password(t.Context(), "https://other.example/v1\nhost=models.example", false); err == nil {
		t.Error("a URL of two lines was accepted")
	}
}
