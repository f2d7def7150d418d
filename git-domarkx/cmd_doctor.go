package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/find/when"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins/limit"
	"github.com/domarkx/domarkx/plugins/process"
)

type doctorCmd struct {
	findingOption
}

func (c *doctorCmd) Run(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	d := doctor{inv: inv}
	for _, check := range []func(){d.git, d.manual, d.fuse, d.commands, d.mounts, d.state, d.config, d.workspaces, d.agents} {
		check()
		if err := inv.ctx.Err(); err != nil {
			return err
		}
	}
	return c.printFindings(inv, append(d.found, inv.draftFindings()...))
}

// A doctor checks the requirements of the program on this machine. Each check runs even if others fail.
type doctor struct {
	inv   *invocation
	repo  *gitcmd.Git // nil outside of a repository
	found []engine.Finding
}

func (d *doctor) find(severity, what, where, fix string) {
	d.found = append(d.found, engine.Finding{Severity: severity, What: what, Where: where, Fix: fix})
}

// git checks the Git program and the formats of the repository.
func (d *doctor) git() {
	git, err := d.inv.git()
	if err != nil {
		where, fix := ".", "run git domarkx in a repository that it can use"
		if errors.Is(err, exec.ErrNotFound) {
			where, fix = "PATH", "install Git 2.36 or newer"
		}
		d.find(severityError, err.Error(), where, fix)
		return
	}
	d.repo = git
	version, err := git.Version(d.inv.ctx)
	if err == nil {
		err = git.RequireVersion(d.inv.ctx)
	}
	if err != nil {
		d.find(severityError, err.Error(), "git", "install a newer Git")
		return
	}
	refs := "files"
	if git.Reftable {
		refs = "reftable"
	}
	d.find(severityInfo, "Git "+version.String()+", "+git.Hash.String()+" objects, "+refs+" refs", git.CommonDir, "")
	if _, err := d.inv.open(); err != nil {
		d.find(severityError, err.Error(), git.CommonDir, "run git fsck for details")
	}
}

// manual checks that Git can find the manual page, which it shows for "git domarkx --help".
func (d *doctor) manual() {
	man, err := exec.LookPath("man")
	if err != nil {
		return
	}
	if d.inv.alone(d.inv.ctx, man, "-w", "git-domarkx").Run() != nil && d.inv.ctx.Err() == nil {
		d.find(severityInfo, "git domarkx --help finds no manual page; git domarkx help needs none", "MANPATH", "git domarkx man --install")
	}
}

// fuse checks the requirements of a mount.
func (d *doctor) fuse() {
	for _, lack := range missingForMount() {
		d.find(severityWarning, lack.what, lack.where, lack.fix)
	}
}

// commands checks what isolates the commands of calls.
func (d *doctor) commands() {
	for _, lack := range process.Missing(d.inv.ctx) {
		d.find(severityWarning, lack.What, "kernel", lack.Fix)
	}
}

// mounts reports mounts of the repository whose servers died or do not answer, and saves in them that are not stored yet.
func (d *doctor) mounts() {
	mounts, err := d.inv.listMounts()
	if err != nil {
		return // without a repository there are no mounts
	}
	for _, m := range mounts {
		if m.Dead {
			d.find(severityWarning, "the process that served this mount died", m.Dir, "git domarkx mount "+m.Dir)
		} else if err := m.Answers(d.inv.ctx); err != nil {
			d.find(severityError, m.NoAnswer(), m.Dir, "git domarkx unmount --force "+m.Dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.inv.opened.pending)) {
		d.find(severityWarning, "a save in a mount is not in the session yet: "+d.inv.opened.pending[name].Reason, name, "")
	}
}

// state checks the directory with this machine's own state.
func (d *doctor) state() {
	if d.repo == nil {
		return
	}
	dir := d.repo.StateDir()
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		d.find(severityError, err.Error(), dir, "give yourself access to it")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.find(severityWarning, fmt.Sprintf("others can read unsaved sessions: its mode is %04o, expected 0700", info.Mode().Perm()), dir, "chmod 700 "+dir)
	}
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "edit-") {
			d.find(severityInfo, "an unsaved text that an editor left behind", dir+"/"+e.Name(), "copy what you need and delete the file")
		}
	}
}

// config checks the settings that the program reads.
func (d *doctor) config() {
	if d.repo == nil {
		return
	}
	config, err := d.repo.Config(d.inv.ctx)
	if err != nil {
		d.find(severityError, err.Error(), "git config", "git config --list --show-origin shows where it is set")
		return
	}
	if keep, ok := config.Get(keepKey); ok {
		if _, _, err := when.Expiry(keep, time.Now()); err != nil {
			d.find(severityError, err.Error(), "git config "+keepKey, "git config "+keepKey+" 90d")
		}
	}
	if remote, ok := config.Get("domarkx.remote"); ok && !slices.Contains(config.Subsections("remote"), remote) && !strings.ContainsAny(remote, "/:") {
		d.find(severityWarning, fmt.Sprintf("there is no remote %q", remote), "git config domarkx.remote", "git remote add "+remote+" URL")
	}
	for _, l := range limit.All {
		if _, err := l.Of(config); err != nil {
			d.find(severityError, err.Error(), "git config "+l.Key, "git config --unset "+l.Key)
		}
	}
	for _, key := range []string{"user.name", "user.email"} {
		if value, _ := config.Get(key); value == "" && d.inv.getenv("GIT_AUTHOR_"+strings.ToUpper(key[5:])) == "" {
			d.find(severityInfo, "your name or email is not configured, so snapshots have a made-up author", "git config "+key, "git config --global "+key+" …")
		}
	}
	d.refspecs(config)
}

// refspecs warns about refspecs with which plain Git would overwrite or remove sessions.
func (d *doctor) refspecs(config *gitcmd.Config) {
	for _, remote := range config.Subsections("remote") {
		for _, spec := range config.GetAll("remote." + remote + ".fetch") {
			_, target, _ := strings.Cut(spec, ":")
			if target == "refs/*" || strings.HasPrefix(target, "refs/domarkx/") {
				d.find(severityWarning, fmt.Sprintf("git fetch overwrites sessions, and with --prune removes those that were never pushed: %s", spec),
					"git config remote."+remote+".fetch", "git config --unset remote."+remote+".fetch '"+spec+"'; git domarkx fetch needs no refspec")
			}
		}
	}
}

// workspaces reports interrupted calls and leftover files of workspaces.
func (d *doctor) workspaces() {
	opened, err := d.inv.open()
	if err != nil {
		return // [doctor.git] has reported it
	}
	if err := opened.trust.CheckProject(d.inv.ctx); err != nil {
		d.find(severityWarning, "sessions that use it are not run or trusted: "+err.Error(), project.File, "correct the file; git domarkx help trust lists its keys")
	}
	found, err := opened.turns.WorkspaceFindings(d.inv.ctx)
	if err != nil {
		d.find(severityError, err.Error(), "workspaces", "")
	}
	d.found = append(d.found, found...)
}

// agents reports for each agent on this machine whether it is recorded, and how to change that.
func (d *doctor) agents() {
	place, dir, err := d.inv.settingsPlace()
	if err != nil {
		return // no repository
	}
	settings, err := recording.ReadSettings(dir)
	if err != nil {
		d.find(severityError, err.Error(), dir, "delete the file, then run git domarkx agent install or watch again")
		return
	}
	seen := recording.ReadSeen(dir)
	for _, known := range agents.All() {
		a := hooks.Of(known)
		scopes := a.Installed(place)
		since, recorded := settings.Since(a.Name)
		home := a.Home(d.inv.getenv)
		switch _, err := os.Stat(home); {
		case !recorded && len(scopes) > 0:
			d.find(severityInfo, a.Name+" is not recorded here, though its hooks are installed", home, "git domarkx agent install "+a.Name)
		case !recorded && err == nil:
			d.find(severityInfo, a.Name+" is not recorded here", home, "git domarkx agent install "+a.Name)
		case recorded:
			d.recordedAgent(a, home, since, len(scopes) > 0, a.Reviewed(place), seen.Hooks[a.Name])
		}
	}
	_, running := recording.Running(dir)
	switch {
	case !settings.Paused.IsZero():
		d.find(severityWarning, "recording is paused since "+settings.Paused.Format(time.RFC3339), dir, "git domarkx agent watch")
	case settings.Enabled() && !running:
		d.find(severityWarning, "agents should be recorded, but no process does it; hooks start it", recording.LogPath(dir), "git domarkx agent watch")
	}
}

// recordedAgent reports since when an agent is recorded, and whether its hooks run.
func (d *doctor) recordedAgent(a hooks.Agent, home string, since time.Time, installed, reviewed bool, heard time.Time) {
	what := fmt.Sprintf("%s is recorded since %s", a.Name, since.Format(time.RFC3339))
	switch {
	case len(a.Hooks.Scopes) == 0:
		d.find(severityInfo, what+"; it needs no hooks", home, "")
	case !installed:
		d.find(severityInfo, what+", without hooks", home, "git domarkx agent install "+a.Name)
	case !reviewed:
		d.find(severityWarning, what+"; its hooks wait for your review", home, a.Hooks.Review)
	case heard.IsZero():
		d.find(severityInfo, what+"; its hooks have not run yet", home, "")
	default:
		d.find(severityInfo, fmt.Sprintf("%s; its hooks ran last at %s", what, heard.Format(time.RFC3339)), home, "")
	}
}
