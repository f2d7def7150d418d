package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/recording"
)

// watchVariable is set for a watcher in the background: "wait" if its parent waits for the
// report on file 3, else "alone".
const watchVariable = "GIT_DOMARKX_WATCH"

// watching is the report of a watcher that follows the transcripts.
const watching = "watching\n"

// startWatcher starts the repository's watcher in the background, if none runs, and waits until
// it follows the transcripts.
func (inv *invocation) startWatcher(dir string) error {
	if running, ok := recording.Running(dir); ok {
		inv.say("process %d records already", running.PID)
		return nil
	}
	trees, err := inv.repository.WorkTrees(inv.ctx)
	if err != nil {
		return err
	}
	at := inv.repository.CommonDir
	if len(trees) > 0 && isDirectory(trees[0]) {
		at = trees[0] // unlike a linked work tree, it stays
	}
	answer, ready, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("starting to record: %w", err)
	}
	defer answer.Close()
	cmd, log, err := watcherCommand(dir, at, os.Environ())
	if err != nil {
		ready.Close()
		return fmt.Errorf("starting to record: %w", err)
	}
	defer log.Close()
	cmd.Env = append(cmd.Env, watchVariable+"=wait")
	cmd.ExtraFiles = []*os.File{ready}
	err = cmd.Start()
	ready.Close()
	if err != nil {
		return fmt.Errorf("starting to record: %w", err)
	}
	said, err := inv.await(answer, cmd.Process)
	switch {
	case err != nil:
		return err
	case said == watching:
		inv.say("process %d records the agents in this repository", cmd.Process.Pid)
		return cmd.Process.Release()
	case said == "":
		return fmt.Errorf("starting to record: the process ended (%v); see %s", cmd.Wait(), log.Name())
	}
	err = errors.New(strings.TrimSpace(said))
	return errors.Join(err, ignoreExit(cmd.Wait()))
}

// say prints a remark for people.
func (inv *invocation) say(format string, args ...any) {
	if !inv.opts.Quiet {
		fmt.Fprintf(inv.err, format+"\n", args...)
	}
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// watcherCommand returns the command that starts a watcher in the background, and its log.
// It works in a directory and finds the repository from there: variables of Git in the
// environment may be of another one, or of the moment.
func watcherCommand(dir, at string, env []string) (*exec.Cmd, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	log, err := openWatchLog(dir)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, "agent", "watch", "--foreground")
	cmd.Dir = at
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE":
			continue
		}
		cmd.Env = append(cmd.Env, entry)
	}
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	return cmd, log, nil
}

// openWatchLog opens the log of the watcher. It truncates a log larger than 1 MiB.
func openWatchLog(dir string) (*os.File, error) {
	const long = 1 << 20
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "log")
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > long {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

// stopWatcher ends the repository's watcher, and waits until it has ended.
func (inv *invocation) stopWatcher(dir string) error {
	running, ok := recording.Running(dir)
	if !ok {
		return nil
	}
	process, err := os.FindProcess(running.PID)
	if err == nil {
		err = process.Signal(os.Interrupt)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending process %d: %w", running.PID, err)
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		if now, ok := recording.Running(dir); !ok || now.PID != running.PID {
			return nil
		}
		if err := pause(inv.ctx); err != nil {
			return err
		}
	}
	printError(inv.err, fmt.Errorf("process %d, which records, does not end; to kill it, which loses nothing: kill -9 %d", running.PID, running.PID))
	return errNo
}
