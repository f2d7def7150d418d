package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

type agentHookCmd struct {
	Agent string `arg:"" name:"AGENT" help:"The agent that runs the hook."`
	Event string `arg:"" optional:"" name:"EVENT" help:"The event that the hook is for, if its input does not name it."`
}

// Run notifies the watcher. [run] handles usual hooks before the command line is
// parsed, so this runs only if there are options.
func (c *agentHookCmd) Run(inv *invocation) error {
	notifyWatcher(c.Agent, c.Event, inv.getenv, inv.in)
	return nil
}

// hookPatience is how long a hook waits for the end of its input, which some agents do not close.
const hookPatience = 25 * time.Millisecond

// isHook reports whether the arguments are those of a hook. A hook is not parsed like other
// commands: it must not fail, whatever arguments an agent gives it.
func isHook(args []string) bool {
	return len(args) >= 3 && args[0] == "agent" && args[1] == "hook" && !slices.ContainsFunc(args[2:], func(arg string) bool { return strings.HasPrefix(arg, "-") })
}

// notifyWatcher notifies the watcher of an event of an agent. It ignores all errors, because
// the watcher also finds changes that no hook reports.
func notifyWatcher(agent, name string, getenv func(string) string, in io.Reader) {
	defer func() { _ = recover() }() // a bug in this program must not disturb an agent
	if _, ok := agents.ByName(agent); !ok {
		return
	}
	now := time.Now()
	e := recording.ReadPayload(payload(in), agent, name, now)
	dirs := []string{e.Dir}
	for _, a := range agents.All() {
		if a.Hooks.Variable != "" {
			dirs = append(dirs, getenv(a.Hooks.Variable))
		}
	}
	if here, err := os.Getwd(); err == nil {
		dirs = append(dirs, here)
	}
	for _, dir := range dirs {
		if recording.Hear(e, dir, agent, watcherArguments()...) {
			return
		}
	}
}

// payload returns the input of a hook, as far as it arrives within [hookPatience].
func payload(in io.Reader) []byte {
	if isTerminal(in) {
		return nil
	}
	var mu sync.Mutex
	var data bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 64<<10)
		for {
			n, err := in.Read(buffer)
			mu.Lock()
			if data.Len() < recording.MaxPayload {
				data.Write(buffer[:n])
			}
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(hookPatience):
	}
	mu.Lock()
	defer mu.Unlock()
	return bytes.Clone(data.Bytes())
}
