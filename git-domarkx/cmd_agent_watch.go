package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

type agentWatchCmd struct {
	Foreground bool `xor:"how" help:"Record in this process, until it is interrupted, and print the sessions that grow."`
	Stop       bool `xor:"how" help:"End the process that records."`
}

func (c *agentWatchCmd) Run(inv *invocation) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	dir := recording.Dir(git.CommonDir)
	switch {
	case c.Stop:
		return recording.Stop(inv.ctx, dir)
	case c.Foreground:
		return inv.watchHere(dir)
	}
	if err := recordAll(inv, dir); err != nil {
		return err
	}
	return inv.startWatcher(dir)
}

// recordAll changes the settings so that all agents are recorded from now on.
func recordAll(inv *invocation, dir string) error {
	return recording.ChangeSettings(inv.ctx, dir, func(s *recording.Settings) {
		if s.All.IsZero() {
			s.All = time.Now().UTC().Truncate(time.Second)
		}
		s.Paused = time.Time{}
	})
}

type agentPauseCmd struct{}

func (agentPauseCmd) Run(inv *invocation) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	dir := recording.Dir(git.CommonDir)
	settings, err := recording.ReadSettings(dir)
	if err != nil {
		return err
	}
	if len(settings.Agents) == 0 && settings.All.IsZero() {
		return errors.New("pausing: nothing is recorded in this repository")
	}
	err = recording.ChangeSettings(inv.ctx, dir, func(s *recording.Settings) {
		if s.Paused.IsZero() {
			s.Paused = time.Now().UTC().Truncate(time.Second)
		}
	})
	if err != nil {
		return err
	}
	if err := recording.Stop(inv.ctx, dir); err != nil {
		return err
	}
	inv.say("recording is paused; git domarkx agent watch goes on")
	return nil
}

// watchMemory is how many bytes of memory a watcher should use at most.
const watchMemory = 256 << 20

// watchHere records in this process until it is interrupted.
func (inv *invocation) watchHere(dir string) error {
	parent, hidden := recording.InBackground(inv.getenv)
	release, err := recording.Acquire(inv.ctx, dir)
	if running, ok := errors.AsType[*recording.RunningError](err); ok {
		_ = parent.Report(nil) // it may be gone
		inv.say("process %d records already", running.Process.PID)
		return nil
	}
	if err == nil && !hidden {
		err = recordAll(inv, dir)
	}
	var watcher *recording.Watcher
	if err == nil {
		watcher, err = inv.newWatcher(dir, !hidden)
	}
	if err == nil && hidden {
		err = os.Chdir("/") // do not use the user's directory
	}
	if err != nil {
		_ = parent.Report(err)
		return errors.Join(err, release())
	}
	return errors.Join(watcher.Run(inv.ctx, func() { _ = parent.Report(nil) }), release())
}

// watcherArguments returns the arguments with which this program becomes a watcher.
func watcherArguments() []string { return []string{"agent", "watch", "--foreground"} }

// startWatcher starts the repository's watcher in the background, if none runs.
func (inv *invocation) startWatcher(dir string) error {
	trees, err := inv.repository.WorkTrees(inv.ctx)
	if err != nil {
		return err
	}
	at := inv.repository.CommonDir
	if len(trees) > 0 && isDirectory(trees[0]) {
		at = trees[0] // the main work tree, because a linked one may be removed
	}
	pid, started, err := recording.Start(inv.ctx, dir, at, watcherArguments()...)
	switch {
	case err != nil:
		return err
	case started:
		inv.say("process %d records the agents in this repository", pid)
	default:
		inv.say("process %d records already", pid)
	}
	return nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (inv *invocation) newWatcher(dir string, prints bool) (*recording.Watcher, error) {
	opened, err := inv.openStored()
	if err != nil {
		return nil, err
	}
	inv.boundMemory(opened)
	debug.SetMemoryLimit(watchMemory)
	logger := slog.New(slog.NewTextHandler(inv.err, nil))
	r := &recorder{inv: inv, opened: opened, logger: logger, prints: prints, bad: map[string]bool{}}
	return recording.New(recording.Config{Dir: dir, Agents: agents.All(), Environ: inv.getenv, Logger: logger,
		Repository: r.repository, Import: r.importFiles, Observer: observer{opened.trees}}), nil
}

// A recorder gives a watcher access to the repository.
type recorder struct {
	inv    *invocation
	opened managers
	logger *slog.Logger
	prints bool            // print the sessions that got a snapshot, instead of logging them
	bad    map[string]bool // problems that were logged already
}

// repository reads the repository's work trees, and which conversations to ignore.
func (r *recorder) repository(ctx context.Context) (recording.Repository, error) {
	if _, err := os.Stat(r.inv.repository.CommonDir); err != nil {
		return recording.Repository{}, err
	}
	git, err := gitcmd.Discover(ctx, r.inv.repository.Dir(), nil) // the configuration may have changed
	if err != nil {
		return recording.Repository{}, err
	}
	return r.inv.recorded(git)
}

// recorded returns the repository's work trees, and the patterns of conversations that must not be recorded.
func (inv *invocation) recorded(git *gitcmd.Git) (recording.Repository, error) {
	trees, err := git.WorkTrees(inv.ctx)
	if err != nil {
		return recording.Repository{}, err
	}
	config, err := git.Config(inv.ctx)
	if err != nil {
		return recording.Repository{}, err
	}
	return recording.Repository{Trees: trees, Ignore: recording.NewIgnore(config.GetAll("domarkx.agent.ignore"), inv.getenv("HOME"))}, nil
}

func (r *recorder) importFiles(ctx context.Context, files []string, ignore *recording.Ignore) (map[string]string, error) {
	began := time.Now()
	redact, err := r.inv.redactOnImport()
	if err != nil {
		return nil, err
	}
	result, err := r.opened.imports.Import(ctx, importer.Request{Paths: files, Recognized: true, Ignore: ignore.Title, Redact: redact})
	if err != nil {
		return nil, err
	}
	for _, problem := range append(result.Bad, result.Warnings...) {
		r.complain(problem)
	}
	r.warnSecrets(result.Sessions)
	changed := map[string]bool{}
	for _, s := range result.Sessions {
		if !s.Changed {
			continue
		}
		changed[s.Name] = true
		if r.prints {
			fmt.Fprintf(r.inv.out, "%s\t%s\t%d\n", s.Name, s.ID, s.Messages)
			if err := r.inv.out.Flush(); err != nil {
				return nil, err
			}
			continue
		}
		r.logger.Info("recorded", "session", s.Name, "messages", s.Messages, "took", time.Since(began).Round(time.Millisecond))
	}
	return r.sessionsOf(files, changed)
}

// warnSecrets logs how many new secrets sessions have, once for each session.
func (r *recorder) warnSecrets(saved []engine.SaveResult) {
	for _, s := range saved {
		key := "secrets in " + s.Name
		if r.bad[key] {
			continue
		}
		text, err := r.inv.newSecrets(r.opened, []engine.SaveResult{s})
		switch {
		case err != nil:
			r.complain(fmt.Errorf("scanning for secrets: %w", err))
		case text != "":
			r.bad[key] = true
			r.logger.Warn(text)
		}
	}
}

// sessionsOf returns the changed session of each transcript, by the path of the transcript.
func (r *recorder) sessionsOf(files []string, changed map[string]bool) (map[string]string, error) {
	if len(changed) == 0 {
		return nil, nil
	}
	known := sources.Open(r.inv.repository.StateDir())
	sessions := map[string]string{}
	for _, file := range files {
		path, err := opencodedb.Canonical(file)
		if name := known.Get(path).Session; err == nil && changed[name] {
			sessions[file] = name
		}
	}
	return sessions, nil
}

// complain logs a problem with a transcript, unless it was logged before.
func (r *recorder) complain(problem error) {
	const most = 1000 // problems in r.bad
	text := problem.Error()
	if r.bad[text] {
		return
	}
	if len(r.bad) == most {
		clear(r.bad)
	}
	r.bad[text] = true
	r.logger.Warn("a transcript is damaged", "err", text)
	r.shortenLog()
}

// shortenLog empties the log of a watcher in the background if it is too long.
func (r *recorder) shortenLog() {
	const long = 4 << 20
	path := recording.LogPath(recording.Dir(r.inv.repository.CommonDir))
	info, err := os.Stat(path)
	if err != nil || r.prints || info.Size() < long {
		return
	}
	_ = os.Truncate(path, 0) // the watcher appends, so it continues at the beginning
}

// An observer takes versions of work trees for the watcher.
type observer struct{ trees *observe.Manager }

// Take takes a version when an agent's hook reports an event, and links the messages of sessions that got a
// snapshot. Events of directories outside of the repository's work trees change nothing.
func (o observer) Take(ctx context.Context, e recording.Event, late func() bool) error {
	if e.Kind == recording.Recorded {
		return o.trees.Recorded(ctx, e.Stored, observe.Moment{Path: e.Transcript, Time: e.Time, Late: late}, all.Codecs())
	}
	at := observe.Moment{Agent: e.Agent, ID: e.Session, Path: e.Transcript, Dir: e.Dir, Calls: e.Calls, Time: e.Time, Late: late}
	switch e.Kind {
	case agents.PromptSubmit:
		at.Kind = events.Prompt
	case agents.ToolsDone:
		at.Kind = events.Batch
	case agents.TurnStop, agents.SessionEnd:
		at.Kind = events.Turn
	default:
		return nil
	}
	if at.ID == "" || at.Dir == "" {
		return nil
	}
	_, err := o.trees.Take(ctx, at)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	return err
}
