package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/recording"
	"github.com/domarkx/domarkx/git-domarkx/transcripts"
)

// hookPatience is how long a hook waits for the end of its input. An agent may not close it.
const hookPatience = 25 * time.Millisecond

// isHook reports whether the arguments are those of a hook. A hook is not parsed like other
// commands: it must not fail, whatever arguments an agent gives it.
func isHook(args []string) bool {
	return len(args) >= 3 && args[0] == "agent" && args[1] == "hook" && !slices.ContainsFunc(args[2:], func(arg string) bool { return strings.HasPrefix(arg, "-") })
}

// runHook runs a hook with these arguments.
func runHook(args []string, getenv func(string) string, in io.Reader) int {
	event := ""
	if len(args) > 3 {
		event = args[3]
	}
	hook{getenv: getenv, in: in}.run(args[2], event)
	return exitOK
}

// A hook notifies the watcher of an event of an agent. Whatever goes wrong is ignored: the watcher
// finds what hooks do not report.
type hook struct {
	getenv func(string) string
	in     io.Reader
}

func (h hook) run(agent, name string) {
	defer func() { _ = recover() }() // no mistake of ours may disturb an agent
	if !slices.ContainsFunc(transcripts.Agents(), func(a transcripts.Agent) bool { return a.Name == agent }) {
		return
	}
	now := time.Now()
	e := recording.ReadPayload(h.payload(), agent, name, now)
	dirs := []string{e.Dir, h.getenv("CLAUDE_PROJECT_DIR"), h.getenv("GEMINI_PROJECT_DIR")}
	if here, err := os.Getwd(); err == nil {
		dirs = append(dirs, here)
	}
	for _, dir := range dirs {
		if h.notify(dir, agent, e) {
			return
		}
	}
}

// payload returns the input of the hook, or its beginning.
func (h hook) payload() []byte {
	if isTerminal(h.in) {
		return nil
	}
	var mu sync.Mutex
	var data bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 64<<10)
		for {
			n, err := h.in.Read(buffer)
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

// notify gives the event to the watcher of the repository around a directory, which it starts if
// none runs. It reports whether the agent is recorded there.
func (h hook) notify(dir, agent string, e recording.Event) bool {
	commonDir, tree, ok := recording.FindRepository(dir)
	if !ok {
		return false
	}
	state := recording.Dir(commonDir)
	if info, err := os.Lstat(state); err != nil || !info.IsDir() || !ownedByUs(info) {
		return false
	}
	settings, err := recording.ReadSettings(state)
	if err != nil || !settings.Enabled() {
		return false
	}
	_, recorded := settings.Since(e.Agent)
	_, installed := settings.Since(agent)
	if !recorded && !installed {
		return false
	}
	_ = recording.Notify(state, e)
	if _, running := recording.Running(state); !running {
		_ = startWatcherAlone(state, tree)
	}
	return true
}

// startAgain is how long hooks wait before they start another watcher.
const startAgain = 500 * time.Millisecond

// startWatcherAlone starts a watcher in the background and does not wait for it.
func startWatcherAlone(dir, tree string) error {
	mark := filepath.Join(dir, "started")
	if info, err := os.Stat(mark); err == nil && time.Since(info.ModTime()) < startAgain && time.Since(info.ModTime()) >= 0 {
		return nil
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	now := time.Now()
	if err := os.Chtimes(mark, now, now); err != nil {
		return err
	}
	cmd, log, err := watcherCommand(dir, tree, os.Environ())
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, watchVariable+"=alone")
	err = cmd.Start()
	if err == nil {
		err = cmd.Process.Release()
	}
	return errors.Join(err, log.Close())
}
