package zeus

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

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
