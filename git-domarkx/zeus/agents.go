// Package zeus finds the agents of Zeus that run in tmux and kitty, closes them and
// starts them again. It runs tmux, kitty and swaymsg, and does not depend on how sessions
// are stored in Git.
//
// The agents to start come from snapshots, whose text is untrusted. The package passes
// that text to programs only as arguments, environment variables and working directories.
// It never becomes part of a shell command, a tmux format or a sway command.
package zeus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// Terminals is where a user's agents run: the tmux server and the kitty instances.
type Terminals struct {
	// Tmux holds the arguments that select the tmux server, such as -L and a name. Empty
	// selects the user's default server.
	Tmux []string
	// Kitty holds the addresses of kitty instances, such as "unix:/tmp/kitty-17". In a
	// path, * and ? are wildcards. Nil selects the addresses where Zeus looks, and the
	// instance in which this program runs.
	Kitty []string
	// Getenv reads the environment.
	Getenv func(string) string
	// StateDirs are directories whose subdirectory session-map/ may contain the agents'
	// notes about their sessions. Earlier directories have precedence.
	StateDirs []string
	// Agent is the user's shell command that starts an agent.
	Agent string
	Now   func() time.Time
}

// The roles that Zeus assigns to agents without a role.
const (
	roleHippeus = "hippeus"
	roleHoplite = "hoplite"
)

// An Agent is a running agent.
type Agent struct {
	Kind      string // [zeusformat.Kitty], [zeusformat.Stygian] or [zeusformat.Hoplite]
	ID        string // "" if unknown
	Name      string
	Role      string
	Directory string // working directory
	Working   bool   // whether its screen shows that it is busy

	workspace string      // of an agent in kitty; "" if unknown
	window    kittyWindow // of an agent in kitty
	tmux      tmuxSession // of any other agent
}

// Live is the result of Discover.
type Live struct {
	Agents   []Agent // in kitty, then stygian agents by tmux session name, then the hoplites of these
	Warnings []error // places that could not be searched for agents

	sessions []tmuxSession // all tmux sessions
	windows  []kittyWindow // kitty windows with the variables of an agent
}

// Discover finds the running agents.
func (t *Terminals) Discover(ctx context.Context) (Live, error) {
	var live Live
	var err error
	if live.sessions, err = t.tmuxSessions(ctx); err != nil {
		return Live{}, err
	}
	if live.windows, live.Warnings, err = t.kittyWindows(ctx); err != nil {
		return Live{}, err
	}
	live.Agents = append(kittyAgents(live.windows), tmuxAgents(live.sessions)...)
	owners := map[string]bool{}
	for _, a := range live.Agents {
		owners[a.ID] = a.ID != ""
	}
	for _, s := range live.sessions {
		if s.isHoplite() && owners[s.owner] {
			live.Agents = append(live.Agents, s.agent(zeusformat.Hoplite))
		}
	}
	t.findWorkspaces(ctx, live.Agents)
	for i, a := range live.Agents {
		if a.Kind != zeusformat.Hoplite {
			live.Agents[i].Working = t.isWorking(ctx, a)
		}
	}
	return live, ctx.Err()
}

// isWorking reports whether an agent's screen shows that it is busy: pi then shows a
// spinner of dots at the start of a line.
func (t *Terminals) isWorking(ctx context.Context, a Agent) bool {
	var screen string
	var err error
	if a.Kind == zeusformat.Kitty {
		screen, err = t.kitty(ctx, a.window.address, "get-text", "--match", fmt.Sprintf("id:%d", a.window.ID))
	} else {
		screen, err = t.tmux(ctx, "", "capture-pane", "-p", "-t", a.tmux.id+":")
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

// Close ends an agent and closes its window or tmux session.
func (t *Terminals) Close(ctx context.Context, a Agent) error {
	if a.Kind == zeusformat.Kitty {
		return t.closeWindow(ctx, a.window)
	}
	return t.killSession(ctx, a.tmux)
}

// maxWait is the timeout for a command of tmux, kitty or sway.
const maxWait = 10 * time.Second

// errNotInstalled means that a program is not installed, and so nothing can run in it.
var errNotInstalled = errors.New("not installed")

// output runs a program in a directory and returns its standard output. With an empty
// directory the program runs in the current directory. The error contains the program's
// error output.
func output(ctx context.Context, directory, program string, args ...string) (string, error) {
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
	if cmd.Dir = directory; directory != "" {
		cmd.Env = append(os.Environ(), "PWD="+directory)
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

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
