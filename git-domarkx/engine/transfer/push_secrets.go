package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/ignored"
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
	known := p.tracked.ids()
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

// An IgnoredError means that a push would send files that the repository ignores.
type IgnoredError struct{ Files []ignored.File }

// Error returns the number of files and what to do.
func (e *IgnoredError) Error() string {
	what := "1 file that the repository ignores is"
	if len(e.Files) != 1 {
		what = fmt.Sprintf("%d files that the repository ignores are", len(e.Files))
	}
	return "nothing was sent: " + what + " in workspace versions that the remote does not have; push with --allow-ignored if others may see that, " +
		"else keep it out of new versions with \"exclude\" in the resource's config and go on in a new session, for versions stay in the history"
}

// An ignoredCheck looks for ignored files in the versions that a push would send.
type ignoredCheck struct {
	m      *Manager
	places *ignored.Places
	then   []ignored.File // files that were ignored when their versions were stored
}

// checkIgnored returns an [*IgnoredError] if the push would send files that the repository
// ignores and that the remote lacks.
func (p *push) checkIgnored(ctx context.Context) error {
	if p.m.env.WorkTree == "" {
		return nil // without a work tree, nothing is ignored
	}
	versions, err := p.m.store.NewVersions(ctx, p.send.ids(), p.tracked.ids())
	if err != nil {
		return err
	}
	c := ignoredCheck{m: p.m, places: ignored.New(p.m.store, p.m.env.WorkTree)}
	for _, id := range versions {
		if err := c.version(ctx, id); err != nil {
			return fmt.Errorf("workspace version %s: %w", id, err)
		}
	}
	found, err := c.places.Ignored(ctx)
	if err != nil {
		return err
	}
	for _, f := range c.then {
		if !slices.ContainsFunc(found, func(g ignored.File) bool { return g.Resource == f.Resource && g.Path == f.Path }) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &IgnoredError{found}
}

// version records the files in a version that differ from its first parent, and those of them that were ignored when it was
// stored and that Git does not track now.
func (c *ignoredCheck) version(ctx context.Context, id string) error {
	v, err := c.m.store.VersionOrStub(ctx, id)
	if err != nil {
		return err
	}
	var before []domarkx.ResourceVersion
	for parent := v; len(parent.Parents) > 0; { // the nearest that has files
		if parent, err = c.m.store.VersionOrStub(ctx, parent.Parents[0]); err != nil && !errors.Is(err, domarkx.ErrNotFound) { // a shallow clone lacks some
			return err
		}
		if before = parent.Resources; parent.Expired == nil {
			break
		}
	}
	for _, path := range v.Ignored {
		f := ignored.File{Version: id}
		f.Resource, f.Path, _ = strings.Cut(path, "/")
		i := slices.IndexFunc(v.Resources, func(r domarkx.ResourceVersion) bool { return r.ID == f.Resource })
		if i < 0 {
			continue
		}
		if tracked, err := c.places.Tracked(ctx, v.Resources[i], f.Path); err != nil {
			return err
		} else if !tracked {
			c.then = append(c.then, f)
		}
	}
	return c.places.Add(ctx, id, before, v.Resources)
}
