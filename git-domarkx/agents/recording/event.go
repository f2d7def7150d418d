package recording

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// Recorded is the kind of an event that no hook reports: the watcher imported what transcripts had.
const Recorded agents.Kind = "recorded"

// An Event is something that an agent did, as its hook reports it. All but Agent, Kind and Time is
// foreign text.
type Event struct {
	Agent      string      `json:"agent"`
	Kind       agents.Kind `json:"kind"`
	Name       string      `json:"event,omitempty"`      // as the agent calls it
	Session    string      `json:"session,omitempty"`    // the agent's own id
	Transcript string      `json:"transcript,omitempty"` // a path that nobody has checked
	Dir        string      `json:"cwd,omitempty"`        // where the agent works
	Calls      []string    `json:"calls,omitempty"`      // ids of the tool calls that begin or ended
	Time       time.Time   `json:"time"`                 // when the hook ran

	Stored string `json:"-"` // for Recorded only: name of the session that got a new snapshot
}

// MaxPayload is how many bytes of the input of a hook are read. Results of tools can be larger;
// what an event needs comes before them.
const MaxPayload = 4 << 20

// maxText and maxCalls limit what an event takes from a payload.
const (
	maxText  = 4096
	maxCalls = 256
)

// ReadPayload returns the event that a hook reports. agent is the agent for which the hook was
// installed, and name the event for which it was, or "". Some agents also run the hooks of others, so the
// payload decides which agent it is. What cannot be read is left out.
func ReadPayload(data []byte, agent, name string, now time.Time) Event {
	p := agents.ReadPayload(data)
	a, _ := agents.ByName(agent)
	for _, other := range agents.All() {
		if other.Hooks.Runs != nil && other.Hooks.Runs(agent, p) {
			a = other
		}
	}
	e := Event{Agent: cmp.Or(a.Name, agent), Time: now.UTC()}
	e.Name = clip(cmp.Or(p.Text("hook_event_name"), name))
	e.Kind = agents.KindOf(e.Name)
	if a.Hooks.Repeats != nil && a.Hooks.Repeats(e.Kind, p) {
		e.Kind = agents.Other
	}
	if e.Kind == agents.CallBegins && e.Agent != agent {
		e.Kind = agents.Other // when a program runs another agent's hooks, it runs only some of them
	}
	e.Session = clip(p.Text("session_id", a.Hooks.Session))
	e.Transcript = clip(p.Text("transcript_path", a.Hooks.Transcript))
	var trees []string
	_ = json.Unmarshal(p[a.Hooks.Trees], &trees) // there may be none
	if e.Dir = clip(cmp.Or(append([]string{p.Text("cwd")}, trees[:min(1, len(trees))]...)...)); !filepath.IsAbs(e.Dir) {
		e.Dir = ""
	}
	if id := p.Text(a.Hooks.Call, "tool_use_id"); id != "" {
		e.Calls = append(e.Calls, clip(id))
	}
	var calls []agents.Payload
	_ = json.Unmarshal(p["tool_calls"], &calls)
	for _, call := range calls[:min(len(calls), maxCalls)] {
		if id := call.Text("tool_use_id"); id != "" {
			e.Calls = append(e.Calls, clip(id))
		}
	}
	return e
}

// clip shortens a text, at the border of a character.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	text = text[:maxText]
	return text[:maxText-format.Partial([]byte(text))]
}
