package zeus

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// backendStygian is the value of the option @zeus_backend for stygian agents.
const backendStygian = "stygian-hippeus"

// A tmuxSession is a tmux session with the options that Zeus sets.
type tmuxSession struct {
	id        string // tmux's own id, such as $3
	name      string
	created   int64
	command   string // start command of the first pane
	directory string // working directory of the first pane

	agentID, role, display, path, backend, owner, phalanx string

	inherited string // agent id in the session's environment; may be inherited from the creator
}

// sessionFields are the tmux formats of a session's fields (tmux(1), FORMATS).
var sessionFields = []string{"session_id", "session_name", "session_created", "@zeus_agent", "@zeus_role", "@zeus_name",
	"@zeus_session_path", "@zeus_backend", "@zeus_owner", "@zeus_phalanx"}

var paneFields = []string{"session_id", "pane_start_command", "pane_current_path"}

// tmux runs a tmux command, in a directory unless that is "". A new session also starts
// there: tmux's own option for the directory expands formats, which can run commands. Data
// in arguments must be escaped with [plainArgument].
func (t *Terminals) tmux(ctx context.Context, directory string, args ...string) (string, error) {
	return output(ctx, directory, "tmux", append(append([]string{"-u"}, t.Tmux...), args...)...)
}

// tmuxSessions returns all sessions, sorted by name. It returns none if no server runs.
func (t *Terminals) tmuxSessions(ctx context.Context) ([]tmuxSession, error) {
	rows, err := t.tmuxList(ctx, sessionFields, "list-sessions")
	if isNoServer(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the sessions of tmux: %w", err)
	}
	sessions := make([]tmuxSession, 0, len(rows))
	for _, row := range rows {
		created, _ := strconv.ParseInt(row[2], 10, 64)
		sessions = append(sessions, tmuxSession{id: row[0], name: row[1], created: created, agentID: strings.TrimSpace(row[3]), role: strings.TrimSpace(row[4]),
			display: strings.TrimSpace(row[5]), path: strings.TrimSpace(row[6]), backend: strings.TrimSpace(row[7]),
			owner: strings.TrimSpace(row[8]), phalanx: strings.TrimSpace(row[9])})
	}
	panes, err := t.tmuxList(ctx, paneFields, "list-panes", "-a")
	if err != nil && !isNoServer(err) {
		return nil, fmt.Errorf("listing the panes of tmux: %w", err)
	}
	for i, s := range sessions {
		first := slices.IndexFunc(panes, func(row []string) bool { return row[0] == s.id }) // they are in order
		if first >= 0 {
			sessions[i].command, sessions[i].directory = panes[first][1], panes[first][2]
		}
		if s.agentID == "" && (s.isHoplite() || s.isStygian()) {
			sessions[i].inherited = t.inheritedID(ctx, s)
		}
	}
	slices.SortStableFunc(sessions, func(a, b tmuxSession) int { return cmp.Compare(a.name, b.name) })
	return sessions, nil
}

// tmuxList runs a tmux command that lists objects, and returns the fields of each. A
// value can contain any character, even a line end, so a random separator divides the
// fields.
func (t *Terminals) tmuxList(ctx context.Context, fields []string, command ...string) ([][]string, error) {
	word := "|" + rand.Text() + "|"
	var b strings.Builder
	for _, field := range fields {
		b.WriteString("#{" + field + "}" + word)
	}
	out, err := t.tmux(ctx, "", append(command, "-F", b.String())...)
	if err != nil {
		return nil, err
	}
	cells := strings.Split(out, word)
	var rows [][]string
	for ; len(cells) > len(fields); cells = cells[len(fields):] {
		row := slices.Clone(cells[:len(fields)])
		row[0] = strings.TrimPrefix(row[0], "\n") // line end of the preceding row
		rows = append(rows, row)
	}
	return rows, nil
}

// isNoServer reports whether err means that no tmux server runs.
func isNoServer(err error) bool {
	if err == nil {
		return false
	}
	said := err.Error()
	return errors.Is(err, errNotInstalled) || strings.Contains(said, "no server running") || isEndingServer(err) ||
		strings.Contains(said, "error connecting to") && (strings.Contains(said, "No such file") || strings.Contains(said, "Connection refused"))
}

// isEndingServer reports whether a command reached a server that was shutting down, as a
// server does after its last session, so that the command had no effect.
func isEndingServer(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "server exited") || strings.Contains(err.Error(), "lost server"))
}

// inheritedID returns the agent id in a session's environment.
func (t *Terminals) inheritedID(ctx context.Context, s tmuxSession) string {
	out, err := t.tmux(ctx, "", "show-environment", "-t", s.id+":", "ZEUS_AGENT_ID")
	if id, ok := strings.CutPrefix(strings.TrimSpace(out), "ZEUS_AGENT_ID="); ok && err == nil {
		return id
	}
	return ""
}

func (s tmuxSession) isStygian() bool { return strings.EqualFold(s.backend, backendStygian) }

func (s tmuxSession) isHoplite() bool {
	return !s.isStygian() && strings.EqualFold(s.role, roleHoplite) && s.owner != "" && s.phalanx != ""
}

var (
	startedID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)ZEUS_AGENT_ID=([A-Za-z0-9_-]+)(?:\s|$)`) })
	startedPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)ZEUS_SESSION_PATH=(\S+)(?:\s|$)`) })
)

// ownID returns the id of the agent in a session: the id that Zeus noted, else the one
// the session was started with. An inherited id may be another agent's.
func (s tmuxSession) ownID() string {
	if s.agentID != "" {
		return s.agentID
	}
	if m := startedID().FindStringSubmatch(strings.Trim(strings.TrimSpace(s.command), `"'`)); m != nil {
		return m[1]
	}
	return ""
}

// tmuxAgents returns the stygian agents, sorted by session name. If two sessions have the
// same agent id, the newer one counts.
func tmuxAgents(sessions []tmuxSession) []Agent {
	newest := map[string]tmuxSession{}
	for _, s := range sessions {
		if a := s.agent(zeusformat.Stygian); s.isStygian() && a.ID != "" {
			if before, ok := newest[a.ID]; !ok || s.created > before.created {
				newest[a.ID] = s
			}
		}
	}
	var found []Agent
	for _, s := range sessions {
		if a := s.agent(zeusformat.Stygian); s.isStygian() && (a.ID == "" || newest[a.ID].id == s.id) {
			found = append(found, a)
		}
	}
	return found
}

func (s tmuxSession) agent(kind string) Agent {
	a := Agent{Kind: kind, ID: s.ownID(), Name: cmp.Or(s.display, s.name), Role: roleHippeus, Directory: s.directory, tmux: s}
	if a.ID == "" && s.inherited != s.owner {
		a.ID = s.inherited
	}
	if kind == zeusformat.Hoplite {
		a.Role = roleHoplite
	}
	return a
}

// killSession ends exactly this session.
func (t *Terminals) killSession(ctx context.Context, s tmuxSession) error {
	if _, err := t.tmux(ctx, "", "kill-session", "-t", s.id); err != nil {
		return fmt.Errorf("closing the tmux session %q: %w", s.name, err)
	}
	return nil
}

// plainArgument escapes data as a literal tmux argument: tmux treats a semicolon at the
// end of an argument as the end of the command.
func plainArgument(s string) string {
	if rest, ok := strings.CutSuffix(s, ";"); ok {
		return rest + `\;`
	}
	return s
}

// plainFormat escapes data as a tmux format that expands to the data.
func plainFormat(s string) string { return strings.ReplaceAll(s, "#", "##") }

// isSessionName reports whether tmux accepts a session name unchanged. tmux replaces
// colons, periods and non-text bytes, and interprets some characters as the start of a
// style.
func isSessionName(name string) bool {
	return name != "" && isText(name) && !strings.ContainsAny(name, ":.") && !strings.Contains(name, "#[")
}

// unescapeName reverses the escaping that tmux applies to the names of sessions: of
// backslashes, and of dollar signs before a letter.
var unescapeName = strings.NewReplacer(`\\`, `\`, `\$`, `$`)

// startInTmux starts an agent in a tmux session of its own. It sets the options before
// tmux can notice that the agent ended, so that they exist even if it ends at once. If
// tmux cannot find the session by its name, it gets that name last.
func (t *Terminals) startInTmux(ctx context.Context, e Entry, path string) error {
	env := []string{"env", "-u", "ZEUS_PARENT_ID", "-u", "ZEUS_PHALANX_ID"}
	for _, variable := range e.environment(path) {
		env = append(env, plainArgument(variable))
	}
	name, first := unescapeName.Replace(e.Session), e.Session
	found := name == e.Session && name[0] != '$' // ids start with $
	if !found {
		first = "git-domarkx-" + rand.Text()
	}
	args := append([]string{"new-session", "-d", "-P", "-F", "#{session_id}", "-s", plainArgument(plainFormat(first)), "--"}, env...)
	for _, word := range t.shell() {
		args = append(args, plainArgument(word))
	}
	options := [][2]string{{"@zeus_agent", e.ID}, {"@zeus_role", e.Role}, {"@zeus_name", e.Name}, {"@zeus_session_path", path}}
	if e.Kind == zeusformat.Stygian {
		options = append(options, [][2]string{{"@zeus_backend", backendStygian}, {"@zeus_owner", ""}, {"@zeus_phalanx", ""}}...)
	} else {
		options = append(options, [][2]string{{"@zeus_backend", ""}, {"@zeus_owner", e.Owner}, {"@zeus_phalanx", e.Phalanx}}...)
	}
	for _, o := range options {
		args = append(args, ";", "set-option", "-t", "="+first+":", o[0], plainArgument(o[1]))
	}
	if !found {
		args = append(args, ";", "rename-session", "-t", "="+first+":", "--", plainArgument(plainFormat(name)))
	}
	var out string
	var err error
	eventually(ctx, maxWait, func() bool {
		out, err = t.tmux(ctx, e.Directory, args...)
		return !isEndingServer(err)
	})
	id := strings.TrimSpace(out)
	if err == nil {
		got, gone := t.tmux(ctx, "", "display-message", "-p", "-t", id+":", "#{session_name}")
		if got = strings.TrimSuffix(got, "\n"); gone != nil || got == e.Session {
			return nil
		}
		err = fmt.Errorf("tmux calls a session %q that is to be called %q", got, e.Session)
	}
	if id != "" {
		_, _ = t.tmux(ctx, "", "kill-session", "-t", id) // without its options, Zeus could not find the session
	}
	return err
}
