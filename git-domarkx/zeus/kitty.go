package zeus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// A kittyWindow is a kitty window that has the variables of an agent, or that Zeus treats
// as an agent's, as "kitty @ ls" lists it.
type kittyWindow struct {
	ID    int64          `json:"id"`
	PID   int            `json:"pid"` // of the process in the window
	CWD   string         `json:"cwd"`
	Title string         `json:"title"`
	Env   agentVariables `json:"env"`
	// Cmdline is only used to recognise pi and find its session.
	Cmdline []string `json:"cmdline"`

	address  string // of its kitty instance
	platform int64  // id of the enclosing X11 window; 0 if unknown
}

// agentVariables are the environment variables of an agent. kitty lists complete
// environments, which include secrets; only these variables are decoded.
type agentVariables struct {
	Name   string `json:"ZEUS_AGENT_NAME"`
	ID     string `json:"ZEUS_AGENT_ID"`
	Role   string `json:"ZEUS_ROLE"`
	Parent string `json:"ZEUS_PARENT_ID"`
	Path   string `json:"ZEUS_SESSION_PATH"`
}

// kittyList is the part of the output of "kitty @ ls" that this package uses.
type kittyList []struct {
	Platform int64 `json:"platform_window_id"`
	Tabs     []struct {
		Windows []kittyWindow `json:"windows"`
	} `json:"tabs"`
}

// kitty sends a command to the kitty instance at an address.
func (t *Terminals) kitty(ctx context.Context, address string, args ...string) (string, error) {
	return output(ctx, "", "kitty", append([]string{"@", "--to", address}, args...)...)
}

// A kittyAddress is an address where a kitty instance may listen.
type kittyAddress struct {
	address string
	chosen  bool // named by the user, so it must answer
	found   bool // found by its file name, so it may not be a kitty instance
}

// kittyWindows returns the windows of agents. It skips sockets that dead instances left
// behind, unless the user named them. An instance that does not answer is an error; if
// its address was only found by the file name, it is a warning.
func (t *Terminals) kittyWindows(ctx context.Context) (windows []kittyWindow, warnings []error, err error) {
	for _, at := range t.kittyAddresses() {
		if !at.chosen && !listens(at.address) {
			continue
		}
		here, err := t.windowsAt(ctx, at.address)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			err = fmt.Errorf("looking for agents in the kitty at %s: %w", at.address, err)
			if !at.found {
				return nil, nil, err
			}
			warnings = append(warnings, err)
		}
		windows = append(windows, here...)
	}
	return windows, warnings, nil
}

// kittyAddresses returns the addresses where kitty instances may listen.
func (t *Terminals) kittyAddresses() []kittyAddress {
	var all []kittyAddress
	add := func(a kittyAddress) {
		if !slices.ContainsFunc(all, func(b kittyAddress) bool { return b.address == a.address }) {
			all = append(all, a)
		}
	}
	patterns := t.Kitty
	if patterns == nil {
		patterns = []string{"unix:/tmp/kitty-*"}
		if own := t.Getenv("KITTY_LISTEN_ON"); own != "" { // tmux may keep the address of an instance that has ended
			add(kittyAddress{address: own})
		}
	}
	for _, pattern := range patterns {
		path, isPath := strings.CutPrefix(pattern, "unix:")
		if !isPath || !strings.ContainsAny(path, "*?") {
			add(kittyAddress{address: pattern, chosen: true})
			continue
		}
		paths, _ := filepath.Glob(path)
		for _, path := range paths {
			if isOwnSocket(path) {
				add(kittyAddress{address: "unix:" + path, found: true})
			}
		}
	}
	return all
}

// listens reports whether a process listens at an address. For addresses that are not
// Unix sockets it always returns true.
func listens(address string) bool {
	path, isPath := strings.CutPrefix(address, "unix:")
	if !isPath {
		return true
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func (t *Terminals) windowsAt(ctx context.Context, address string) ([]kittyWindow, error) {
	out, err := t.kitty(ctx, address, "ls")
	if err != nil {
		return nil, err
	}
	var list kittyList
	if json.Unmarshal([]byte(out), &list) != nil {
		return nil, errors.New("kitty answers with something else than a list of windows") // do not wrap the parser's error, which could quote secrets
	}
	ids, names := t.windowNotes(windowIDs), t.windowNotes(windowNames)
	var found []kittyWindow
	for _, around := range list {
		for _, tab := range around.Tabs {
			for _, w := range tab.Windows {
				key := fmt.Sprintf("%s:%d", strings.TrimPrefix(address, "unix:"), w.ID)
				if w.Env.Name == "" && w.Env.ID == "" {
					if ids[key] == "" || !showsPi(w.Cmdline, w.Title) {
						continue
					}
					w.Env = agentVariables{Name: fmt.Sprintf("pi-%d", w.ID)} // it inherited its variables from another window
				}
				for _, text := range []*string{&w.CWD, &w.Env.ID, &w.Env.Role, &w.Env.Parent, &w.Env.Path} {
					*text = strings.TrimSpace(*text)
				}
				w.Env.ID = cmp.Or(w.Env.ID, ids[key])
				w.Env.Name = cmp.Or(names[key], w.Env.Name)
				if path := t.expand(sessionIn(w.Cmdline)); !isFile(t.expand(w.Env.Path)) && isFile(path) {
					w.Env.Path = path
				}
				w.address, w.platform = address, around.Platform
				found = append(found, w)
			}
		}
	}
	return found, nil
}

// kittyAgents returns the agents in windows. A window that the user opens from an agent's
// window inherits the variables; the agent runs in the oldest of these windows.
func kittyAgents(windows []kittyWindow) []Agent {
	first := map[string]kittyWindow{}
	for _, w := range windows {
		if before, ok := first[w.Env.ID]; !ok || before.address == w.address && w.ID < before.ID {
			first[w.Env.ID] = w
		}
	}
	var found []Agent
	for _, w := range windows {
		id := w.Env.ID
		if f := first[id]; id != "" && (f.address != w.address || f.ID != w.ID) {
			continue
		}
		found = append(found, Agent{Kind: zeusformat.Kitty, ID: id, Name: cmp.Or(w.Env.Name, id), Directory: w.CWD,
			Role: cmp.Or(strings.ToLower(w.Env.Role), roleHippeus), window: w})
	}
	return found
}

// closeWindow closes a window and waits until it has disappeared.
func (t *Terminals) closeWindow(ctx context.Context, w kittyWindow) error {
	match := "id:" + strconv.FormatInt(w.ID, 10)
	if _, err := t.kitty(ctx, w.address, "close-window", "--match", match); err != nil {
		return fmt.Errorf("closing the kitty window of %q: %w", w.Env.Name, err)
	}
	gone := func() bool {
		left, err := t.windowsAt(ctx, w.address) // kitty ends with its last window
		return err != nil || !slices.ContainsFunc(left, func(v kittyWindow) bool { return v.ID == w.ID })
	}
	if !eventually(ctx, maxWait, gone) {
		return fmt.Errorf("closing the kitty window of %q: it is still there", w.Env.Name)
	}
	return nil
}

// eventually calls is repeatedly until it returns true. It returns false when the limit
// has passed.
func eventually(ctx context.Context, limit time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		if is() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
}

// words splits a command line into words. It also splits each argument, because an
// argument can itself be a shell command.
func words(commandLine []string) []string {
	var all []string
	for _, argument := range commandLine {
		all = append(all, shellWords(argument)...)
	}
	return all
}

// shellWords splits text into words as a shell does, but expands nothing. An unterminated
// quote extends to the end of the text.
func shellWords(text string) []string {
	var all []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			if begun {
				all = append(all, word.String())
				word.Reset()
			}
			begun = false
		case '\'', '"':
			begun = true
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\\"$`", text[i+1]) >= 0 {
					i++
				}
				word.WriteByte(text[i])
			}
		case '\\':
			if i++; i < len(text) {
				word.WriteByte(text[i])
			}
			begun = true
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

var piWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)pi(?:\s|$)`) })

// showsPi reports whether a window runs pi. Like Zeus, it checks the window's command
// line and title.
func showsPi(commandLine []string, title string) bool {
	for _, word := range words(commandLine) {
		if path.Base(word) == "pi" {
			return true
		}
	}
	return piWord().MatchString(strings.ToLower(strings.Join(commandLine, " "))) || strings.HasPrefix(strings.TrimSpace(title), "π")
}

// sessionIn returns the session that a command line names with --session, or "" if it
// names none.
func sessionIn(commandLine []string) string {
	all := words(commandLine)
	for i, word := range all {
		if value, ok := strings.CutPrefix(word, "--session="); ok {
			return value
		}
		if word == "--session" && i+1 < len(all) {
			return all[i+1]
		}
	}
	return ""
}
