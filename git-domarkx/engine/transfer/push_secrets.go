package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// Secrets is the status of a session that is not sent because secrets were found in what would be sent.
const Secrets = "secrets"

// Damaged is the status of a session that is not sent because objects that would be sent cannot be read.
const Damaged = "damaged"

// isAlone reports whether the others are sent without this session.
func (r Result) isAlone() bool { return r.Status == engine.Pending || r.Status == Damaged }

// An Inspector decides whether a session may leave this repository.
type Inspector interface {
	// Inspect reads all that is outgoing and reports whether it may be sent.
	Inspect(ctx context.Context, out Outgoing) (ok bool, err error)
}

// An Outgoing describes all that a push of a session sends: the names of the session and of the workspaces that go with it, and the
// objects that git rev-list --objects TIPS --not KNOWN names.
type Outgoing struct {
	Session    string
	Workspaces []string
	Tips       []string // the newest commits of the session, which comes first, and of the workspaces
	Known      []string // commits that the remote has
}

// An outgoing holds the references that may be sent, after inspect has read every object that the remote lacks. Only inspect
// makes one, and pushRefs sends nothing else.
type outgoing struct{ tips Tips }

// inspect shows the commits to send of each session and its workspaces to the inspector, keeps back what may not be
// sent, and returns the rest. Without an inspector, it only reads the commits. Damaged sessions are kept back, too, as
// Git would send nothing at all.
func (p *push) inspect(ctx context.Context, inspector Inspector) (outgoing, error) {
	known := slices.AppendSeq(slices.Collect(maps.Values(p.tracked.Sessions)), maps.Values(p.tracked.Workspaces))
	all := map[string]Outgoing{}
	for name, id := range p.send.Sessions {
		if id != "" {
			all[name] = Outgoing{Session: name, Tips: []string{id}, Known: known}
		}
	}
	for _, workspace := range slices.Sorted(maps.Keys(p.send.Workspaces)) {
		if id := p.send.Workspaces[workspace]; id != "" {
			name := p.carrier[workspace]
			out := all[name]
			all[name] = Outgoing{Session: name, Workspaces: append(out.Workspaces, workspace), Tips: append(out.Tips, id), Known: known}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		ok := true
		var err error
		if inspector != nil {
			ok, err = inspector.Inspect(ctx, all[name])
		} else {
			err = p.readable(ctx, all[name])
		}
		switch {
		case ctx.Err() != nil:
			return outgoing{}, ctx.Err()
		case err != nil:
			p.m.sessions.Warn(fmt.Errorf("session %q is not sent: %w; git domarkx fsck says more", name, err))
			p.keep(name, Damaged)
		case !ok:
			p.keep(name, Secrets)
		}
	}
	return outgoing{p.send}, nil
}

// keep keeps back a session with its workspaces.
func (p *push) keep(name, status string) {
	p.results[name] = Result{Name: name, Status: status, Failed: true}
	delete(p.send.Sessions, name)
	maps.DeleteFunc(p.send.Workspaces, func(workspace, _ string) bool { return p.carrier[workspace] == name })
}

// readable reads all that is outgoing.
func (p *push) readable(ctx context.Context, out Outgoing) error {
	return p.m.store.NewFiles(ctx, out.Tips, out.Known, func(c snapshot.StoredCommit) error {
		for _, f := range c.Files {
			content, _, err := p.m.store.Open(ctx, f.Blob)
			if err == nil {
				_, err = io.Copy(io.Discard, content)
				err = errors.Join(err, content.Close())
			}
			if err != nil {
				return fmt.Errorf("%s in commit %.12s: %w", f.Path, c.ID, err)
			}
		}
		return nil
	})
}
