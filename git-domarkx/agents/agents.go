// Package agents finds the agents of Zeus that are live in tmux and kitty, closes
// them and starts them again. It runs tmux, kitty and swaymsg; it knows nothing of
// sessions in Git.
//
// What it starts comes from snapshots, whose text anybody may have written. So none
// of that text is ever read by a shell, by tmux's formats or as a command of sway:
// it goes to programs as arguments, variables and folders alone.
package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/zeus"
)

// A Desk is where agents live: the tmux server and the kitty instances of a user.
type Desk struct {
	// Tmux are the arguments that choose tmux's server, such as -L and a name; none
	// for the user's own.
	Tmux []string
	// Kitty are the addresses at which instances of kitty listen, such as
	// "unix:/tmp/kitty-17"; in a path, * and ? match names. Nil for those where Zeus
	// looks, and the one that this program runs in.
	Kitty []string
	// Getenv reads the environment.
	Getenv func(string) string
	// StateDirs are where Zeus may note which session an agent is in, the first first:
	// session-map/ in each.
	StateDirs []string
	// Agent is the command line of the user's that starts an agent; a shell reads it.
	Agent string
	Now   func() time.Time
}

// The roles that Zeus gives where none is stated.
const (
	roleHippeus = "hippeus"
	roleHoplite = "hoplite"
)

// An Agent is one that is live.
type Agent struct {
	Kind    string // [zeus.Kitty], [zeus.Stygian] or [zeus.Hoplite]
	ID      string // "" when it has none
	Name    string
	Role    string
	Folder  string // that it works in
	Working bool   // it is at work, as far as its screen shows

	parent    string // of an agent in kitty
	workspace string // of an agent in kitty; "" when unknown
	path      string // of its session, as it was told when it was started
	command   string // that started it, in tmux
	owner     string // of a hoplite
	phalanx   string // of a hoplite

	tmux   tmuxSession
	window kittyWindow
}

// Live is what was found.
type Live struct {
	Agents   []Agent // those of kitty, the stygian ones by their tmux sessions, then the hoplites of these
	Warnings []error // where agents may be that could not be seen

	sessions []tmuxSession // all of tmux's
	windows  []kittyWindow // of kitty with an agent's variables
}

// Discover finds the agents that are live.
func (d *Desk) Discover(ctx context.Context) (Live, error) {
	var live Live
	var err error
	if live.sessions, err = d.tmuxSessions(ctx); err != nil {
		return Live{}, err
	}
	if live.windows, live.Warnings, err = d.kittyWindows(ctx); err != nil {
		return Live{}, err
	}
	live.Agents = append(kittyAgents(live.windows), tmuxAgents(live.sessions)...)
	owners := map[string]bool{}
	for _, a := range live.Agents {
		owners[a.ID] = a.ID != ""
	}
	for _, s := range live.sessions {
		if s.isHoplite() && owners[s.owner] {
			live.Agents = append(live.Agents, s.agent(zeus.Hoplite))
		}
	}
	d.findWorkspaces(ctx, live.Agents)
	for i, a := range live.Agents {
		if a.Kind != zeus.Hoplite {
			live.Agents[i].Working = d.isWorking(ctx, a)
		}
	}
	return live, ctx.Err()
}

// isWorking reports whether the screen of an agent shows that it is at work: pi turns
// a wheel of dots in front of what it does.
func (d *Desk) isWorking(ctx context.Context, a Agent) bool {
	var screen string
	var err error
	if a.Kind == zeus.Kitty {
		screen, err = d.kitty(ctx, a.window.address, "get-text", "--match", fmt.Sprintf("id:%d", a.window.id))
	} else {
		screen, err = d.tmux(ctx, "capture-pane", "-p", "-t", a.tmux.id+":")
	}
	if err != nil {
		return false
	}
	for line := range strings.Lines(screen) {
		line = strings.TrimSpace(line)
		for _, wheel := range "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" {
			if strings.HasPrefix(line, string(wheel)+" ") {
				return true
			}
		}
	}
	return false
}

// Close ends an agent, and its window or tmux session with it.
func (d *Desk) Close(ctx context.Context, a Agent) error {
	if a.Kind == zeus.Kitty {
		return d.closeWindow(ctx, a.window)
	}
	return d.killSession(ctx, a.tmux)
}

// maxWait bounds how long one of the terminals' programs may take to answer.
const maxWait = 10 * time.Second

// errNotInstalled says that a program is not there, and so nothing that it runs.
var errNotInstalled = errors.New("not installed")

// output runs a program in a folder, "" for this program's own, and returns what it
// prints. The error has what the program says is wrong.
func output(ctx context.Context, folder, program string, args ...string) (string, error) {
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%s: %w", program, errNotInstalled)
	}
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	cmd := exec.CommandContext(limited, path, args...)
	cmd.WaitDelay = time.Second
	if cmd.Dir = folder; folder != "" {
		cmd.Env = append(os.Environ(), "PWD="+folder)
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	switch said := strings.TrimSpace(stderr.String()); {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return stdout.String(), context.Cause(ctx)
	case limited.Err() != nil:
		return stdout.String(), fmt.Errorf("%s does not answer", program)
	case said != "":
		return stdout.String(), fmt.Errorf("%s: %s", program, said)
	}
	return stdout.String(), fmt.Errorf("%s: %w", program, err)
}

// isFile reports whether there is a regular file at an absolute path.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isFolder reports whether there is a folder at a path.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
