package integration_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// words returns a text of numbered words.
func words(mark string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", mark, i)
	}
	return b.String() + "end."
}

// streamed returns the text in the journal of the stream that is under way.
func streamed(r *site) string {
	files, _ := filepath.Glob(r.path(".git/domarkx/turns/*.stream"))
	if len(files) != 1 {
		return ""
	}
	data, _ := os.ReadFile(files[0])
	return string(data)
}

// startChat starts a turn. The function ended waits for its end and returns its output.
func startChat(r *site, args ...string) (kill func(), ended func() outcome) {
	r.tb.Helper()
	cmd := r.command(r.tb.Context(), "git-domarkx", append([]string{"chat"}, args...)...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		r.tb.Fatal(err)
	}
	return func() { _ = cmd.Process.Kill() }, func() outcome {
		_ = cmd.Wait() // the status says it
		return outcome{out.String(), stderr.String(), cmd.ProcessState.ExitCode(), "chat " + strings.Join(args, " ")}
	}
}

// TestFaultKillStream kills turns while the text of an answer streams, at a random place of it. The
// next chat must keep all that was recorded, once, and go on.
func TestFaultKillStream(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	r, _ := newTalk(t)
	for i := range rounds(t, 8) {
		mark := fmt.Sprintf("r%dw", i)
		server := providertest.Start(
			providertest.Reply{Text: words(mark, 300), Stream: providertest.Stream{Break: providertest.Stall, After: 4 + random.IntN(250)}},
			providertest.Reply{Text: "Going on."})
		r.git("config", "domarkx.model.m.url", server.Base())
		kill, ended := startChat(r, "-m", fmt.Sprintf("Question %d.", i), "s")
		least := 1 + random.IntN(3)
		eventually(t, "text arrives", func() bool { return strings.Count(streamed(r), "\n") > least })
		kill()
		ended()
		arrived := strings.Count(streamed(r), mark)
		if got := r.domarkx("chat", "s"); got != "Going on.\n" {
			t.Fatalf("round %d: chat goes on with %q", i, got)
		}
		shown := r.shown("s")[0]
		if n := strings.Count(shown, mark); n < arrived || n == 0 || strings.Count(shown, mark+"0 ") != 1 {
			t.Fatalf("round %d: %d of %d words are stored:\n%s", i, n, arrived, shown)
		}
		if strings.Count(shown, fmt.Sprintf("Question %d.", i)) != 1 {
			t.Fatalf("round %d: the question is not stored once:\n%s", i, shown)
		}
		if left := streamed(r); left != "" {
			t.Errorf("round %d: left: %s", i, left)
		}
		r.intact("round", i)
		if err := server.End(); err != nil {
			t.Error(err)
		}
	}
	r.sound("at the end")
	r.noScraps()
}

// TestFaultKillTurn kills turns with a call at random moments. However often that happens, the call
// is made at most once, and its turn can be ended.
func TestFaultKillTurn(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	r, _ := newTalk(t)
	turn := func(i int, run func(server *providertest.Server)) {
		server := providertest.Start(
			providertest.Reply{Text: "I count.", Calls: shellCall(fmt.Sprintf("echo x%dx >>log", i))},
			providertest.Reply{Text: "Counted."}, providertest.Reply{Text: "Counted."}, providertest.Reply{Text: "Counted."})
		r.git("config", "domarkx.model.m.url", server.Base())
		run(server)
		server.Close()
	}
	i := 0
	takes := typical(nil, func() {
		i++
		turn(i, func(*providertest.Server) { r.domarkx("chat", "-m", "count", "--approve", "all", "s") })
	})
	for range rounds(t, 16) {
		i++
		turn(i, func(*providertest.Server) {
			r.killed(moment(random, takes), i%killWays, "chat", "-m", fmt.Sprintf("Count %d.", i), "--approve", "all", "s")
			o := r.try("", "git-domarkx", "chat", "--approve", "all", "s")
			if o.code != 0 && !strings.Contains(o.err, "nothing to go on with") {
				t.Fatalf("round %d: %s", i, o)
			}
		})
		if n := strings.Count(r.shown("s")[0], fmt.Sprintf("Count %d.", i)); n > 1 {
			t.Fatalf("round %d: the question is stored %d times", i, n)
		}
		log := r.domarkx("exec", "s", "sh", "run_command", "command=cat log")
		if n := strings.Count(log, fmt.Sprintf("x%dx", i)); n > 1 {
			t.Fatalf("round %d: the call was made %d times: %s", i, n, log)
		}
		r.intact("round", i)
	}
	noLocks(t, r.path(".git"), "at the end")
	r.sound("at the end")
	r.noScraps()
}

// TestFaultDiskFullStream fills the disk while an answer streams. What was recorded before stays,
// the error names the problem, and when there is room again the turn goes on.
func TestFaultDiskFullStream(t *testing.T) {
	t.Parallel()
	r := newDisk(t, "tmpfs", "size=6m").with("TEST_KEY=" + providertest.Key)
	more := make(chan struct{})
	server := providertest.New(t, providertest.Reply{Text: words("w", 9000), Stream: providertest.Stream{Wait: more, After: 60}}, providertest.Reply{Text: "Going on."})
	talkIn(r, server)
	_, ended := startChat(r, "-m", "Tell me.", "s")
	eventually(t, "text arrives", func() bool { return strings.Contains(streamed(r), "w20 ") })
	free := r.fill(16 << 10)
	close(more)
	o := ended()
	if o.code != 128 || !strings.Contains(strings.ToLower(o.err), "no space left") || o.out != "" {
		t.Errorf("expected exit 128 and a word about the space: %s", o)
	}
	if shown := r.domarkx("show", "s"); !strings.Contains(shown, "Tell me.") || strings.Contains(shown, "Going on") {
		t.Errorf("with a full disk the session reads %.2000s", shown)
	}
	free()
	if got := r.domarkx("chat", "s"); got != "Going on.\n" {
		t.Errorf("chat goes on with %q", got)
	}
	shown := r.domarkx("show", "s")
	if strings.Count(shown, "w0 w1 w2 ") != 1 || !strings.Contains(shown, "w20 ") || !strings.Contains(shown, `"interrupted": true`) {
		t.Errorf("when there is room again the session reads %.2000s", shown)
	}
	if left := streamed(r); left != "" {
		t.Errorf("left: %.300s", left)
	}
	r.sound()
	r.noScraps()
}

// TestFaultPowerStream cuts the power while an answer streams: the text is on the disk but for the
// last second, and the next chat keeps it and goes on. It also cuts the power just after the
// answer was printed.
func TestFaultPowerStream(t *testing.T) {
	t.Parallel()
	for _, kind := range fileSystems(t) {
		t.Run(kind, func(t *testing.T) {
			p := newPowered(t, kind)
			p.site = p.with("TEST_KEY=" + providertest.Key)
			more := make(chan struct{})
			server := providertest.New(t,
				providertest.Reply{Text: "It is said: " + words("w", 20), Stream: providertest.Stream{Wait: more, After: 18}},
				providertest.Reply{Text: "Going on."})
			talkIn(p.site, server)
			p.must("", "sync", "-f", p.dir)
			_, ended := startChat(p.site, "-m", "Tell me.", "s")
			eventually(t, "text arrives", func() bool { return strings.Contains(streamed(p.site), "w8 ") })
			recorded := streamed(p.site)
			since := time.Now()
			eventually(t, "a second passes", func() bool { return time.Since(since) > time.Second })
			after := p.cut(t)
			if got := streamed(after); !strings.HasPrefix(got, recorded) {
				t.Errorf("a second after it arrived, the power cut left %q of %q", got, recorded)
			}
			close(more)
			if o := ended(); o.code != 0 || !strings.Contains(o.out, "end.") {
				t.Fatalf("the turn: %s", o)
			}
			printed := p.cut(t)
			if shown := printed.domarkx("show", "s"); strings.Count(shown, "w19 end.") != 1 || strings.Contains(shown, "interrupted") {
				t.Errorf("after the answer was printed, the session reads %s", shown)
			}
			printed.sound("after the answer was printed")
			if got := after.domarkx("chat", "s"); got != "Going on.\n" {
				t.Errorf("chat goes on with %q", got)
			}
			shown := after.domarkx("show", "s")
			if strings.Count(shown, "It is said: w0 w1 ") != 1 || !strings.Contains(shown, "w8 ") || !strings.Contains(shown, `"interrupted": true`) || strings.Count(shown, "Tell me.") != 1 {
				t.Errorf("after the power cut the session reads %s", shown)
			}
			after.sound("after the power cut")
		})
	}
}
