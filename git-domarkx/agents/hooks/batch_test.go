package hooks_test

import (
	"strings"
	"testing"
)

// TestBatch checks which hook reports that calls ended, by the version of the program, also when that changes, and that
// all are removed without a trace.
func TestBatch(t *testing.T) {
	for _, tt := range []struct {
		agent, version string
		batch          bool
	}{
		{"claude-code", "2.1.330", true}, {"claude-code", "2.1.145", true}, {"claude-code", "3.0.0", true}, {"claude-code", "2.1.144", false},
		{"claude-code", "2.1", false}, {"claude-code", "?", false}, {"claude-code", "-", false}, {"claude-code", "", false},
		{"qwen", "0.24.4", true}, {"qwen", "0.15.10", false}, {"codex", "9.9.9", false},
	} {
		t.Run(tt.agent+" "+tt.version, func(t *testing.T) {
			u := newUser(t, t.TempDir())
			u.write(t, "main/x", "")
			u.write(t, "linked/x", "")
			before := u.files(t)
			a := agent(t, tt.agent)
			scope := a.Hooks.Scopes[0]
			for _, version := range []string{"1.0.0", tt.version, tt.version} {
				u.install(t, a.At(func() string { return version }), scope, false)
			}
			if u.install(t, a.At(func() string { return tt.version }), scope, false) {
				t.Error("installing again changes something")
			}
			if installed := a.Installed(u.place); len(installed) != 1 || installed[0] != scope {
				t.Errorf("installed in %v", installed)
			}
			for path, text := range u.files(t) {
				if !strings.Contains(text, "agent hook") {
					continue
				}
				if strings.Contains(text, "PostToolBatch") != tt.batch || strings.Contains(text, "PostToolUse") == tt.batch || !strings.Contains(text, "PreToolUse") {
					t.Errorf("%s:\n%s", path, text)
				}
			}
			u.uninstall(t, a)
			if after := u.files(t); !mapsEqual(before, after) {
				t.Errorf("after uninstalling: %q, before: %q", after, before)
			}
		})
	}
}
