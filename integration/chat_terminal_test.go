package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A terminal is a terminal in tmux in which one program runs.
type terminal struct {
	t      *testing.T
	socket string
}

// newTerminal starts a program of a site in a terminal, which shows "STATUS N" when it ends.
func newTerminal(t *testing.T, r *site, command string) *terminal {
	t.Helper()
	needProgram(t, "tmux")
	term := &terminal{t, filepath.Join(t.TempDir(), "tmux")}
	env := ""
	for _, v := range r.env {
		if !strings.HasPrefix(v, "TERM=") {
			env += " '" + v + "'"
		}
	}
	term.tmux("new-session", "-d", "-x", "120", "-y", "50", "cd '"+r.dir+"' && exec env"+env+" sh -c 'trap : INT; "+command+"; echo STATUS $?; sleep 60'")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() }) // it may have ended
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys types keys, by tmux's names.
func (term *terminal) keys(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys"}, keys...)...)
}

// screen returns the text on the terminal.
func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p")
}

// shows waits until the terminal shows a text.
func (term *terminal) shows(want string) {
	term.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for wait := 10 * time.Millisecond; !strings.Contains(term.screen(), want); wait = min(2*wait, 200*time.Millisecond) { // each look starts tmux
		if time.Now().After(deadline) {
			term.t.Fatalf("the terminal never showed %q:\n%s", want, term.screen())
		}
		time.Sleep(wait)
	}
}

// newTalk returns a repository with the trusted session s, which has a shell, and a server whose
// model is the default.
func newTalk(t *testing.T, script ...providertest.Reply) (*site, *providertest.Server) {
	t.Helper()
	server := providertest.New(t, script...)
	r := newRepository(t)
	talkIn(r, server)
	return r.with("TEST_KEY=" + providertest.Key), server
}

func talkIn(r *site, server *providertest.Server) {
	r.tb.Helper()
	r.write("s.md", "```workspace-config\nresources:\n  - type: local_shell\n    id: sh\n```\n")
	r.domarkx("import", "s.md")
	r.domarkx("trust", "s")
	for key, value := range map[string]string{"": "m", ".m.provider": "anthropic", ".m.url": server.Base(), ".m.keyEnv": "TEST_KEY"} {
		r.git("config", "domarkx.model"+key, value)
	}
}

func shellCall(command string) []providertest.Call {
	return []providertest.Call{{Name: "sh__run_command", Arguments: fmt.Sprintf(`{"command": %q}`, command)}}
}

// stalled is an answer that stops in the middle.
var stalled = providertest.Reply{Text: "An answer that never comes to its end, however long one waits.", Stream: providertest.Stream{Break: providertest.Stall, After: 12}}

// TestChatOnATerminal has a conversation: an answer, a call that is approved, Ctrl-C during an
// answer, the history, and Ctrl-D.
func TestChatOnATerminal(t *testing.T) {
	t.Parallel()
	r, _ := newTalk(t,
		providertest.Reply{Text: "Hello, you."},
		providertest.Reply{Text: "I look.", Calls: shellCall("echo from the tool")},
		providertest.Reply{Text: "It works \x1b[31mwell."},
		stalled,
		providertest.Reply{Text: "One more."})
	term := newTerminal(t, r, "git-domarkx chat s")
	term.shows("Ctrl-D ends the conversation.\n>")
	term.keys("hello", "Enter")
	term.shows("Hello, you.\n>")
	term.keys("look", "Enter")
	term.shows("Make this call of run_command?")
	term.keys("y", "Enter")
	term.shows("from the tool")
	term.shows(`It works \x1b[31mwell.`)
	term.keys("wait", "Enter")
	term.shows("An answer")
	term.keys("C-c")
	term.shows("Stopped;")
	term.keys("Up")
	term.shows("\n> wait\n")
	term.keys("C-c")
	term.shows("Ctrl-C again, or Ctrl-D, ends the conversation.\n>")
	term.keys("more", "Enter")
	term.shows("One more.\n>")
	term.keys("C-d")
	term.shows("STATUS 0")
	if got := r.domarkx("show", "s"); !strings.Contains(got, `"interrupted": true`) || !strings.Contains(got, "from the tool") {
		t.Errorf("stored:\n%s", got)
	}
}

// TestChatInterruptedExits130 presses Ctrl-C during the only turn of a command, and twice at the
// prompt of a conversation.
func TestChatInterruptedExits130(t *testing.T) {
	t.Parallel()
	r, _ := newTalk(t, stalled)
	term := newTerminal(t, r, "git-domarkx chat -m wait s")
	term.shows("An answer")
	term.keys("C-c")
	term.shows("STATUS 130")
	if got := r.domarkx("show", "s"); !strings.Contains(got, `"interrupted": true`) || !strings.Contains(got, "An answer that") {
		t.Errorf("stored:\n%s", got)
	}
	term = newTerminal(t, r, "git-domarkx chat --new other")
	term.shows("Ctrl-D ends the conversation.\n>")
	term.keys("C-c")
	term.shows("Ctrl-C again, or Ctrl-D, ends the conversation.\n>")
	term.keys("C-c")
	term.shows("STATUS 130")
}

// TestChatSecondInterruptEnds presses Ctrl-C while an answer arrives and somebody else has the
// lock of the repository: the program cannot store what came of the answer. Ctrl-C again ends it,
// and the next chat stores it.
func TestChatSecondInterruptEnds(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"conversation": "git-domarkx chat s", "turn": "git-domarkx chat -m wait s"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, server := newTalk(t, stalled)
			term := newTerminal(t, r, command)
			if name == "conversation" {
				term.shows("\n>")
				term.keys("wait", "Enter")
			}
			term.shows("An answer")
			lock, err := os.OpenFile(r.path(".git/domarkx/lock"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := atomicfile.Lock(t.Context(), lock); err != nil {
				t.Fatal(err)
			}
			term.keys("C-c")
			eventually(t, "the program leaves the server", func() bool { return server.Left() == 1 })
			term.keys("C-c")
			term.shows("STATUS 130")
			lock.Close()
			server.Add(providertest.Reply{Text: "The rest."})
			if got := r.domarkx("chat", "s"); got != "The rest.\n" {
				t.Errorf("the answer is %q", got)
			}
			if got := r.domarkx("show", "s"); strings.Count(got, "An answer that") != 1 || !strings.Contains(got, `"interrupted": true`) {
				t.Errorf("stored:\n%s", got)
			}
		})
	}
}

// TestChatApprovesAlways allows a tool for as long as the program runs, declines another call, and
// is asked again by the next program.
func TestChatApprovesAlways(t *testing.T) {
	t.Parallel()
	list := []providertest.Call{{Name: "sh__list_dir", Arguments: `{"path": "."}`}}
	r, _ := newTalk(t,
		providertest.Reply{Calls: shellCall("echo one")},
		providertest.Reply{Calls: shellCall("echo two")},
		providertest.Reply{Calls: list},
		providertest.Reply{Text: "First turn done."},
		providertest.Reply{Calls: shellCall("echo three")},
		providertest.Reply{Text: "Second turn done."},
		providertest.Reply{Calls: shellCall("echo four")})
	term := newTerminal(t, r, "git-domarkx chat s")
	term.shows("\n>")
	term.keys("go", "Enter")
	term.shows("Make this call of run_command?")
	term.keys("a", "Enter")
	term.shows("  two\n")
	term.shows("Make this call of list_dir?")
	term.keys("n", "Enter")
	term.shows("First turn done.\n>")
	term.keys("again", "Enter")
	term.shows("Second turn done.\n>")
	if got := strings.Count(term.screen(), "Make this call"); got != 2 {
		t.Errorf("asked %d times:\n%s", got, term.screen())
	}
	term.keys("C-d")
	term.shows("STATUS 0")
	shown := r.domarkx("show", "s")
	if strings.Count(shown, `"ok": true`) != 3 || strings.Count(shown, `"code": "refused"`) != 1 {
		t.Errorf("stored:\n%s", shown)
	}
	term = newTerminal(t, r, "git-domarkx chat -m more s")
	question := "Make this call of run_command? [y]es, [n]o, [a]lways:"
	term.shows(question)
	term.keys("C-d") // an empty answer
	term.shows(question + "\n" + question)
	term.keys("C-c")
	term.shows("STATUS 130")
	if strings.Contains(r.domarkx("show", "s"), `"output": "four`) {
		t.Error("the call was made")
	}
}

// TestChatAsksForSuggestedModel answers the question whether the model that a document suggests
// may be used.
func TestChatAsksForSuggestedModel(t *testing.T) {
	t.Parallel()
	r, server := newTalk(t, providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."})
	r.write("d.md", "```session-config\n{\"model\": \"other\"}\n```\n\n## user\n\nHello.\n")
	r.domarkx("import", "d.md")
	r.domarkx("trust", "d")
	for key, value := range map[string]string{"provider": "anthropic", "url": server.Base(), "keyEnv": "TEST_KEY", "model": "other-model"} {
		r.git("config", "domarkx.model.other."+key, value)
	}
	for _, test := range []struct{ answer, shows, model string }{{"y", "One.", "other-model"}, {"n", "Two.", "m"}} {
		term := newTerminal(t, r, "git-domarkx chat -m hello d")
		term.shows("d suggests the model other. Use it? [y/N]")
		if n := len(server.Requests()); n > 0 && test.answer == "y" {
			t.Fatalf("%d requests before the answer", n)
		}
		term.keys(test.answer, "Enter")
		term.shows(test.shows)
		term.shows("STATUS 0")
		requests := server.Requests()
		if last := string(requests[len(requests)-1].Body); !strings.Contains(last, `"model":"`+test.model+`"`) {
			t.Errorf("after %q the request was for another model: %.200s", test.answer, last)
		}
	}
}
