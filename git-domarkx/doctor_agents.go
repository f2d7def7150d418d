package main

import (
	"fmt"
	"os"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

// agents reports for each agent on this machine whether it is recorded, and how to change
// that.
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
