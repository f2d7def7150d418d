//go:build unix

package sessions_test

import (
	"testing"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

func TestSessionOf(t *testing.T) {
	for path, want := range map[string]string{
		"s.md": "s", "a/b/s.md": "a/b/s", "a.b.md": "a.b", "ü.md": "ü", "s.md.md": "s.md", "a b.md": "a b", "#s.md": "#s",
		"": "", ".md": "", "a/.md": "", "s": "", "s.MD": "", "s.md~": "", "#s.md#": "", ".#s.md": "", ".s.md.swp": "", "4913": "", "sedAbCdE": "",
		".goutputstream-ABC": "", "s.md.tmp": "", ".s.md.XyZ": "", ".s.md": "", ".backup/s.md": "", "a/.b/c/s.md": "", "s.md/": "", "s.md.vsctmp": "",
	} {
		if got, ok := sessions.SessionOf(path); got != want || ok != (want != "") {
			t.Errorf("%q is the session %q, %v, want %q", path, got, ok, want)
		}
	}
}
