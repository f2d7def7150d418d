package agents

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// A Scope says for whom hooks are installed.
type Scope string

// The scopes of hooks.
const (
	Local   Scope = "local"   // for this user and this repository
	User    Scope = "user"    // for this user
	Project Scope = "project" // for all who have the repository
)

// A Kind says what an agent did.
type Kind string

// The kinds of events.
const (
	SessionStart Kind = "start"
	PromptSubmit Kind = "prompt" // the user submitted a prompt, and the agent has not begun with it
	CallBegins   Kind = "call"   // a tool call is about to begin
	ToolsDone    Kind = "tools"  // a tool call, or a batch of them, ended
	TurnStop     Kind = "stop"   // the agent's turn ended
	SessionEnd   Kind = "end"
	Other        Kind = "other"
)

// Hooks are the commands that an agent runs when something happens. An agent without scopes needs none.
type Hooks struct {
	Scopes []Scope // the narrowest first
	// Files returns the settings files.
	Files func(s Scope, p Place) []string
	// Events are the names of the events to be notified of: of the kinds SessionStart, PromptSubmit,
	// CallBegins, ToolsDone, TurnStop and SessionEnd, in this order; the last one may be missing.
	Events []string
	// Batch is the event after all calls of a response, which takes the place of that after a call from
	// the version Since on. "" if there is none.
	Batch, Since string
	// More are events that it reports in other versions, or when it runs hooks of another agent.
	More map[string]Kind
	// Entry returns the entry of a hook that runs a command.
	Entry func(command string) jsonvalue.Value
	// Named reports that commands name their event, because the agent does not.
	Named bool
	// Header are other members that a settings file needs.
	Header jsonvalue.Value
	// Review says what the user has to do before hooks run, and Reviewed reports whether this was done for
	// those in a file. "" and nil if nothing.
	Review   string
	Reviewed func(p Place, file string) bool

	// Variable is the environment variable with the directory of the project; "" if there is none.
	Variable string
	Payloads
}

// Payloads say how the payloads of an agent's hooks differ from the usual ones.
type Payloads struct {
	// Session, Transcript, Call and Trees are the names of members of a payload, beside the usual ones.
	Session, Transcript, Call, Trees string
	// Runs reports whether a payload of a hook that was installed for another agent is of this one.
	Runs func(installed string, p Payload) bool
	// Repeats reports whether an event only repeats an earlier one.
	Repeats func(k Kind, p Payload) bool
}

// KindOf returns the kind of an event, by the name that any agent has for it.
func KindOf(event string) Kind {
	for _, a := range All() {
		if i := slices.Index(a.Hooks.Events, event); i >= 0 {
			return [...]Kind{SessionStart, PromptSubmit, CallBegins, ToolsDone, TurnStop, SessionEnd}[i]
		}
		if kind, ok := a.Hooks.More[event]; ok {
			return kind
		}
		if event != "" && event == a.Hooks.Batch {
			return ToolsDone
		}
	}
	return Other
}

// A Payload has the members of the JSON object that a hook gets.
type Payload map[string]json.RawMessage

// ReadPayload returns the members in a payload that can be read: its end may be missing.
func ReadPayload(data []byte) Payload {
	p := Payload{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return p
	}
	for decoder.More() {
		name, err := decoder.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || decoder.Decode(&value) != nil {
			break
		}
		p[text] = value
	}
	return p
}

// Text returns the first of some members that is a string and not empty, or "".
func (p Payload) Text(names ...string) string {
	for _, name := range names {
		var text string
		if json.Unmarshal(p[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// Has reports whether a member is there and not null.
func (p Payload) Has(name string) bool { return p[name] != nil && string(p[name]) != "null" }

// A Place is where agents work.
type Place struct {
	Environ Environment
	Trees   []string // the work trees of the repository
	Program string   // the path of this program
}

// inTrees returns the paths of a file in all work trees.
func (p Place) inTrees(elements ...string) []string {
	var paths []string
	for _, tree := range p.Trees {
		paths = append(paths, filepath.Join(append([]string{tree}, elements...)...))
	}
	return paths
}

// inMain returns the path of a file in the main work tree. Files for all who have the repository
// belong to a commit, so one copy is enough.
func (p Place) inMain(elements ...string) []string {
	return p.inTrees(elements...)[:min(1, len(p.Trees))]
}

// inDirectory returns the places of a file in an agent's directory, or in that of the same name in the
// work tree.
func inDirectory(home func(e Environment) string, dir, name string) func(s Scope, p Place) []string {
	return func(s Scope, p Place) []string {
		if s == Project {
			return p.inMain(dir, name)
		}
		return []string{filepath.Join(home(p.Environ), name)}
	}
}

// The time limits of hooks in seconds and milliseconds. They return at once; this is for a machine that hangs.
const (
	seconds      = 5
	milliseconds = 5000
)

// nested returns a function that builds an entry in the format of Claude Code. timeout is in the unit
// of the agent.
func nested(timeout int64) func(command string) jsonvalue.Value {
	return func(command string) jsonvalue.Value {
		return transcript.Object("hooks", transcript.List(transcript.Object("type", "command", "command", command, "timeout", timeout)))
	}
}

// Servers are the MCP servers in a file.
type Servers struct {
	File  string
	Path  []string                               // of the object with the servers
	Entry func(command []string) jsonvalue.Value // of a server; nil if the file is Codex's, in TOML
}

// serversAt returns the servers in files.
func serversAt(files []string, entry func(command []string) jsonvalue.Value, path ...string) []Servers {
	var all []Servers
	for _, file := range files {
		all = append(all, Servers{file, path, entry})
	}
	return all
}

// serversIn returns the servers in files of the usual form.
func serversIn(files func(s Scope, p Place) []string) func(s Scope, p Place) []Servers {
	return func(s Scope, p Place) []Servers { return serversAt(files(s, p), serverEntry, "mcpServers") }
}

// serverEntry returns the entry of a server as most agents have it.
func serverEntry(command []string) jsonvalue.Value {
	return transcript.Object("command", command[0], "args", texts(command[1:]))
}

func texts(words []string) jsonvalue.Value {
	var items []jsonvalue.Value
	for _, word := range words {
		items = append(items, transcript.Str(word))
	}
	return transcript.List(items...)
}
