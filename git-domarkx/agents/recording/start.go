package recording

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/background"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// aloneVariable is the environment variable that marks a background watcher for which no parent
// process waits.
const aloneVariable = "GIT_DOMARKX_WATCH_ALONE"

// InBackground reports whether this process is a watcher in the background, and returns the process that waits until the watcher, or
// another one, follows the transcripts, or has failed.
func InBackground(getenv func(string) string) (parent *background.Parent, yes bool) {
	parent = background.Waiting()
	yes = parent != nil || getenv(aloneVariable) != ""
	os.Unsetenv(aloneVariable)
	return parent, yes
}

// Start starts a watcher in the background and waits until it follows the transcripts. The
// arguments make this program watch the repository around the directory at. It returns the
// watcher's process, or the one that watches already.
func Start(ctx context.Context, dir, at string, args ...string) (pid int, started bool, err error) {
	if running, ok := Running(dir); ok {
		return running.PID, false, nil
	}
	cmd, log, err := command(dir, at, args)
	if err == nil {
		defer log.Close()
		err = background.Start(ctx, cmd)
	}
	if _, ended := errors.AsType[*background.EndedError](err); ended {
		err = fmt.Errorf("%w; see %s", err, log.Name())
	}
	if err != nil {
		return 0, false, fmt.Errorf("starting to record: %w", err)
	}
	pid = cmd.Process.Pid
	if running, ok := Running(dir); ok {
		pid = running.PID // another process may have been faster
	}
	return pid, true, cmd.Process.Release()
}

// startAgain is how long hooks wait before they start another watcher.
const startAgain = 500 * time.Millisecond

// StartAlone starts a watcher in the background, as [Start] does, and does not wait for it.
func StartAlone(dir, at string, args ...string) error {
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
	cmd, log, err := command(dir, at, args)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, aloneVariable+"=1")
	background.Detach(cmd)
	err = cmd.Start()
	if err == nil {
		err = cmd.Process.Release()
	}
	return errors.Join(err, log.Close())
}

// command returns the command that runs this program in the background, and its log. The
// program finds the repository from its directory: variables of Git in the environment may be of
// another one, or of the moment.
func command(dir, at string, args []string) (*exec.Cmd, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	log, err := background.OpenLog(LogPath(dir))
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = at
	cmd.Env = agents.WithoutGit(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, log, nil
}

// LogPath returns the path of the log of watchers in the background.
func LogPath(dir string) string { return filepath.Join(dir, "log") }

// stopPatience is how long Stop waits.
const stopPatience = time.Minute

// Stop ends the watcher of a repository, and waits until it has ended.
func Stop(ctx context.Context, dir string) error {
	running, ok := Running(dir)
	if !ok {
		return nil
	}
	process, err := os.FindProcess(running.PID)
	if err == nil {
		err = process.Signal(os.Interrupt)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending process %d, which records: %w", running.PID, err)
	}
	patience := time.After(stopPatience)
	for {
		if now, ok := Running(dir); !ok || now.PID != running.PID {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience:
			return fmt.Errorf("process %d, which records, does not end; to kill it, which loses nothing: kill -9 %d", running.PID, running.PID)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Hear passes an event to the watcher of the repository that contains dir. It does so if e.Agent,
// or the agent installed (for which the hook was installed), is recorded there. If no watcher runs,
// it starts one with args. It reports whether it passed the event on.
func Hear(e Event, dir, installed string, args ...string) bool {
	commonDir, tree, ok := FindRepository(dir)
	if !ok {
		return false
	}
	state := Dir(commonDir)
	if info, err := os.Lstat(state); err != nil || !info.IsDir() || !atomicfile.IsOurs(info) {
		return false
	}
	settings, err := ReadSettings(state)
	if err != nil || !settings.Enabled() {
		return false
	}
	_, ours := settings.Since(e.Agent)
	_, theirs := settings.Since(installed)
	if !ours && !theirs {
		return false
	}
	_ = Notify(state, e) // the watcher finds what hooks do not report
	if _, running := Running(state); !running {
		_ = StartAlone(state, tree, args...)
	}
	return true
}

// FindRepository returns the common Git directory of the innermost repository that contains dir,
// and the top of its main work tree; without a main work tree, the top of the one that contains
// dir. It starts no program, because hooks must be fast. It ignores Git's environment variables,
// which agents set for other purposes.
func FindRepository(dir string) (commonDir, tree string, ok bool) {
	if !filepath.IsAbs(dir) {
		return "", "", false
	}
	for at := range agents.Upward(filepath.Clean(dir)) {
		if gitDir, found := gitDirAt(at); found {
			commonDir = commonOf(gitDir)
			if filepath.Base(commonDir) == ".git" {
				at = filepath.Dir(commonDir)
			}
			return commonDir, at, true
		}
	}
	return "", "", false
}

// gitDirAt returns the Git directory of the work tree whose top is a directory
// (gitrepository-layout(5)).
func gitDirAt(top string) (string, bool) {
	path := filepath.Join(top, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		_, err := os.Stat(filepath.Join(path, "HEAD"))
		return path, err == nil
	}
	data, err := agents.ReadRegular(path, 8192)
	if err != nil {
		return "", false
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(top, target)
	}
	return filepath.Clean(target), true
}

// commonOf returns the common directory of a Git directory.
func commonOf(gitDir string) string {
	data, err := agents.ReadRegular(filepath.Join(gitDir, "commondir"), 8192)
	if err != nil {
		return gitDir
	}
	common := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return filepath.Clean(common)
}
