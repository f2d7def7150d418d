package recording

import (
	"time"

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
