package recording

import (
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// TestLate checks after which notifications a version is not exact any more. They are given while the files are read,
// as by the hooks of other processes.
func TestLate(t *testing.T) {
	type hook struct {
		kind    agents.Kind
		session string
		calls   []string
	}
	begins := func(calls ...string) hook { return hook{agents.CallBegins, "s", calls} }
	ends := func(calls ...string) hook { return hook{agents.ToolsDone, "s", calls} }
	tests := []struct {
		name          string
		before, after []hook // the event itself is the last one before
		want          bool
	}{
		{"a call", []hook{begins("a"), ends("a")}, nil, false},
		{"the next call has begun", []hook{begins("a"), ends("a")}, []hook{begins("b")}, true},
		{"it has ended as well", []hook{begins("a"), ends("a")}, []hook{begins("b"), ends("b")}, true},
		{"another session calls", []hook{begins("a"), ends("a")}, []hook{{agents.CallBegins, "other", []string{"b"}}}, false},
		{"the next prompt", []hook{begins("a"), ends("a"), {agents.TurnStop, "s", nil}}, []hook{{agents.PromptSubmit, "s", nil}}, false},
		{"a call after the next prompt", []hook{begins("a"), ends("a"), {agents.TurnStop, "s", nil}}, []hook{{agents.PromptSubmit, "s", nil}, begins("b")}, true},
		{"one of two calls at once ended", []hook{begins("a"), begins("b"), ends("a")}, nil, true},
		{"both ended", []hook{begins("a"), begins("b"), ends("a"), ends("b")}, nil, false},
		{"a batch ended, with a call that failed", []hook{begins("a"), begins("b"), ends("a", "b")}, nil, false},
		{"a batch of a sub-agent ended", []hook{begins("agent"), begins("a"), ends("a")}, nil, true},
		{"a call that nobody allowed", []hook{begins("a"), {agents.TurnStop, "s", nil}, {agents.PromptSubmit, "s", nil}, begins("b"), ends("b")}, nil, false},
		{"calls without ids", []hook{begins(), ends()}, nil, false},
		{"one of two without ids", []hook{begins(), begins(), ends()}, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, at := newInbox(t.TempDir()), time.Now()
			var last Event
			give := func(hooks []hook) {
				for _, h := range hooks {
					at = at.Add(time.Millisecond)
					e := Event{Agent: "claude-code", Kind: h.kind, Session: h.session, Calls: h.calls, Time: at}
					if err := Notify(in.dir, e); err != nil {
						t.Fatal(err)
					}
					last = e
				}
			}
			give(tt.before)
			event := last
			if taken := in.take(at); len(taken) != len(tt.before) {
				t.Fatalf("%d events", len(taken))
			}
			give(tt.after)
			if got := in.late(event); got != tt.want {
				t.Errorf("late: %v", got)
			}
			if rest := in.take(at); len(rest) != len(tt.after) {
				t.Errorf("%d events are left of %d", len(rest), len(tt.after))
			}
		})
	}
}

// TestLateWithoutBegins checks the estimate for agents whose hooks do not report when a call begins.
func TestLateWithoutBegins(t *testing.T) {
	in := newInbox(t.TempDir())
	for _, tt := range []struct {
		kind agents.Kind
		age  time.Duration
		want bool
	}{
		{agents.ToolsDone, 0, false}, {agents.ToolsDone, 2 * lateAfter, true}, {agents.PromptSubmit, 2 * lateAfter, true}, {agents.TurnStop, 2 * lateAfter, false},
	} {
		if got := in.late(Event{Agent: "cursor", Kind: tt.kind, Session: "s", Time: time.Now().Add(-tt.age)}); got != tt.want {
			t.Errorf("%s, %v ago: %v", tt.kind, tt.age, got)
		}
	}
}
