package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider/providertest"
)

// TestChatOnATerminal has a conversation in tmux: an answer, a call that is approved, Ctrl-C during
// an answer, the history, and Ctrl-D.
func TestChatOnATerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tmux is not installed")
	}
	server := providertest.New(t,
		providertest.Reply{Text: "Hello, you."},
		providertest.Reply{Text: "I look.", Calls: []providertest.Call{{Name: "sh__run_command", Arguments: `{"command": "echo from the tool"}`}}},
		providertest.Reply{Text: "It works \x1b[31mwell."},
		providertest.Reply{Text: "An answer that never comes to its end, however long one waits.", Break: providertest.Stall, After: 12})
	r := newRepository(t)
	r.write("s.md", "```workspace-config\nresources:\n  - type: local_shell\n    id: sh\n```\n")
	r.domarkx("import", "s.md")
	r.domarkx("trust", "s")
	for key, value := range map[string]string{"": "m", ".m.provider": "anthropic", ".m.url": server.Base(), ".m.keyEnv": "TEST_KEY"} {
		r.git("config", "domarkx.model"+key, value)
	}
	socket := filepath.Join(t.TempDir(), "tmux")
	tmux := func(args ...string) string {
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-x", "120", "-y", "50", "cd "+r.dir+" && TEST_KEY="+providertest.Key+" "+filepath.Join(program(t), "git-domarkx")+" chat s; echo STATUS $?; sleep 60")
	defer exec.Command("tmux", "-S", socket, "kill-server").Run()
	shows := func(want string) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for !strings.Contains(tmux("capture-pane", "-p"), want) {
			if time.Now().After(deadline) {
				t.Fatalf("the terminal never showed %q:\n%s", want, tmux("capture-pane", "-p"))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	shows("Ctrl-D ends the conversation.\n>")
	tmux("send-keys", "hello", "Enter")
	shows("Hello, you.\n>")
	tmux("send-keys", "look", "Enter")
	shows("Make this call of run_command?")
	tmux("send-keys", "y", "Enter")
	shows("from the tool")
	shows(`It works \x1b[31mwell.`)
	tmux("send-keys", "wait", "Enter")
	shows("An answer")
	tmux("send-keys", "C-c")
	shows("Stopped;")
	tmux("send-keys", "Up")
	shows("\n> wait\n")
	tmux("send-keys", "C-c")
	shows("Ctrl-C again, or Ctrl-D")
	tmux("send-keys", "C-d")
	shows("STATUS 0")
	if got := r.domarkx("show", "s"); !strings.Contains(got, `"interrupted": true`) || !strings.Contains(got, "from the tool") {
		t.Errorf("stored:\n%s", got)
	}
}
