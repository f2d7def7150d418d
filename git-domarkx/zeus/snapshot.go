package zeus

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// A Row is the outcome for one agent.
type Row struct {
	ID     string `json:"agent_id" head:"AGENT_ID" doc:"the id of the agent"`
	Kind   string `json:"kind" head:"KIND" doc:"what it runs in: tmux or kitty"`
	Status Status `json:"status" head:"STATUS" doc:"saved, restored, skipped or failed"`
	Detail string `json:"detail" head:"DETAIL" doc:"the snapshot, or what went wrong"`
}

// A Status is the kind of outcome for an agent.
type Status string

// The possible outcomes for an agent.
const (
	Saved    Status = "saved"
	Restored Status = "restored"
	Skipped  Status = "skipped"
	Failed   Status = "failed"
)

// ErrNoAgents means that no agents run that could be saved.
var ErrNoAgents = errors.New("no agents of Zeus are live in tmux or kitty, so there is nothing to save")

// Snapshot returns a snapshot of the running agents in Zeus's format, and a row for each
// agent. The snapshot contains all agents or none: if an agent could not be restored
// from the available information, its row is Failed, the others are Skipped, and
// snapshot is nil.
func (t *Terminals) Snapshot(live Live, hostname string, now time.Time) (snapshot []byte, rows []Row, err error) {
	if len(live.Agents) == 0 {
		return nil, nil, ErrNoAgents
	}
	var entries []jsonvalue.Value
	var working []string
	refused := false
	for _, a := range live.Agents {
		entry, err := t.entry(a, live.Agents)
		row := Row{ID: a.ID, Kind: a.Kind, Status: Saved, Detail: transcript.Text(entry, "session_path")}
		if err != nil {
			refused = true
			row.Status, row.Detail = Failed, err.Error()
		}
		rows, entries = append(rows, row), append(entries, entry)
		if a.Working {
			working = append(working, a.ID)
		}
	}
	if refused {
		for i, row := range rows {
			if row.Status == Saved {
				rows[i].Status, rows[i].Detail = Skipped, "not saved, because others cannot be"
			}
		}
		return nil, rows, nil
	}
	slices.Sort(working)
	ids := []jsonvalue.Value{}
	for _, id := range slices.Compact(working) {
		ids = append(ids, jsonvalue.StringValue(id))
	}
	return zeusformat.AppendJSON(nil, transcript.Object("schema_version", int64(zeusformat.Version), "created_at", zeusformat.FormatTime(now), "hostname", hostname,
		"working_agent_ids", transcript.List(ids...), "entry_count", int64(len(entries)), "entries", transcript.List(entries...))), rows, nil
}

// entry returns the snapshot entry of an agent, or an error if it could not be restored.
func (t *Terminals) entry(a Agent, all []Agent) (jsonvalue.Value, error) {
	if a.ID == "" {
		return jsonvalue.Value{}, fmt.Errorf("%s has no agent id", a.Name)
	}
	members := []string{"kind", a.Kind, "name", a.Name, "agent_id", a.ID, "role", a.Role, "cwd", a.Directory}
	path, source := t.sessionOf(a)
	switch a.Kind {
	case zeusformat.Kitty:
		if n := sharing(a, all); source == sourceDirectory && n > 1 {
			return jsonvalue.Value{}, fmt.Errorf("%s: which session of %s it is in is not known, for %d agents work there", a.Name, a.Directory, n)
		}
		members = append(members, "workspace", cmp.Or(a.workspace, noWorkspace), "parent_id", a.window.Env.Parent)
	case zeusformat.Stygian:
		members = append(members, "tmux_session", a.tmux.name)
	case zeusformat.Hoplite:
		members = append(members, "tmux_session", a.tmux.name, "owner_id", a.tmux.owner, "phalanx_id", a.tmux.phalanx)
	}
	if path == "" {
		return jsonvalue.Value{}, fmt.Errorf("%s: there is no file of its session", a.Name)
	}
	if !utf8.ValidString(path) || !utf8.ValidString(a.Directory) {
		return jsonvalue.Value{}, fmt.Errorf("%s: the path %q of its session, or its directory, is no UTF-8, which a snapshot cannot hold", a.Name, path)
	}
	members = append(members, "session_path", path, "session_source", source)
	entry := jsonvalue.ObjectValue()
	for i := 0; i < len(members); i += 2 {
		entry = entry.With(members[i], jsonvalue.StringValue(members[i+1]))
	}
	return entry, nil
}

// sharing returns how many agents in kitty have the same working directory as a.
func sharing(a Agent, all []Agent) int {
	n := 0
	for _, other := range all {
		if other.Kind == zeusformat.Kitty && other.Directory == a.Directory {
			n++
		}
	}
	return n
}

// An Entry is an agent in a snapshot.
type Entry struct {
	Kind      string
	ID        string
	Name      string
	Role      string
	Directory string
	Path      string // of the session file
	Session   string // name of its tmux session
	Workspace string // sway workspace
	Parent    string // of an agent in kitty
	Owner     string // of a hoplite
	Phalanx   string

	Digest string // SHA-256 of the stored session file, in hexadecimal; "" if it was not stored
}

// Entries returns the agents in a document, and the ids of those that were working when
// it was saved. If the schema_version or the kind of any agent is unknown, Entries
// returns an error and no agents.
func Entries(doc *domarkx.Document) (entries []Entry, working []string, err error) {
	about := doc.Header.Meta()
	if version, ok := about.Get("schema_version"); ok && !zeusformat.IsVersion(version) {
		return nil, nil, fmt.Errorf("schema_version %s: %w, expected %d", version.JSON(), domarkx.ErrUnsupported, zeusformat.Version)
	}
	for _, id := range transcript.Get(about, "working_agent_ids").Items() {
		if id.Kind() == jsonvalue.String {
			working = append(working, strings.TrimSpace(id.Text()))
		}
	}
	for i, m := range doc.Conversation {
		v := m.Meta()
		kind, stated := v.Get("kind")
		if !stated {
			continue // a message about the agents, or an item that is not an object; Zeus skips these too
		}
		text := func(name string) string { return strings.TrimSpace(transcript.Text(v, name)) }
		e := Entry{Kind: zeusformat.KindOf(v), ID: text("agent_id"), Name: text("name"), Role: text("role"),
			Directory: text("cwd"), Path: text("session_path"), Session: transcript.Text(v, "tmux_session"), Workspace: text("workspace"),
			Parent: text("parent_id"), Owner: text("owner_id"), Phalanx: text("phalanx_id"), Digest: zeusformat.SessionDigest(m.Message)}
		switch e.Kind {
		case "":
			return nil, nil, fmt.Errorf("message %d: kind %s: %w, expected kitty, stygian or hoplite", i, kind.JSON(), domarkx.ErrUnsupported)
		case zeusformat.Hoplite:
			e.Role = cmp.Or(e.Role, roleHoplite)
		default:
			e.Role = cmp.Or(e.Role, roleHippeus)
		}
		entries = append(entries, e)
	}
	return entries, working, nil
}

// check returns an error if an entry cannot be restored, whatever agents run.
func (e *Entry) check() error {
	for _, member := range []struct{ name, value string }{{"agent_id", e.ID}, {"cwd", e.Directory}, {"session_path", e.Path}} {
		if member.value == "" {
			return fmt.Errorf("the snapshot has no %s for it", member.name)
		}
	}
	for _, value := range []string{e.ID, e.Name, e.Role, e.Directory, e.Path, e.Parent, e.Owner, e.Phalanx} {
		if strings.ContainsRune(value, 0) {
			return fmt.Errorf("%q cannot be given to a program", value)
		}
	}
	if e.Kind == zeusformat.Kitty {
		if e.Name == "" {
			return fmt.Errorf("the snapshot has no name for it")
		}
		return nil
	}
	if !isSessionName(e.Session) {
		return fmt.Errorf("tmux session %q: a session of tmux cannot be given this name", e.Session)
	}
	e.Name = cmp.Or(e.Name, e.Session)
	return nil
}

// environment returns the environment variables for an agent.
func (e *Entry) environment(path string) []string {
	env := []string{"ZEUS_AGENT_NAME=" + e.Name, "ZEUS_AGENT_ID=" + e.ID, "ZEUS_ROLE=" + e.Role}
	if parent := cmp.Or(e.Parent, e.Owner); parent != "" {
		env = append(env, "ZEUS_PARENT_ID="+parent)
	}
	if e.Phalanx != "" {
		env = append(env, "ZEUS_PHALANX_ID="+e.Phalanx)
	}
	return append(env, "ZEUS_SESSION_PATH="+path)
}
