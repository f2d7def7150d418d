package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/ignored"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// An openWorkspace is an open workspace. It is locked: other processes wait until it is closed. Its
// files derive from the newest version that this process knows.
type openWorkspace struct {
	m         *Manager
	live      *plugins.Live
	workspace string
	tip       domarkx.Version // the base of the live state; the ID is empty before the first version
	header    domarkx.Header  // header of the session
	replaced  bool            // a redaction replaced the version that the live state derives from, and tip is its redacted form
	session   string          // session that the workspace was opened for
	gate      *trust.Gate     // nil for a workspace that is only held
	permit    permit.Permit   // to open the workspace
}

// open opens the workspace of a session and makes it live if necessary. It records interrupted calls, commits local changes
// if the workspace moved in the meantime, and adds and removes resources according to the session. It does not create the
// first version of a workspace; [openWorkspace.prepare] does. The gate decides whether it is opened.
func (m *Manager) open(ctx context.Context, gate *trust.Gate, session trust.Session) (*openWorkspace, error) {
	name := session.Info.Name
	workspace, err := m.sessions.WorkspaceOf(ctx, name)
	if err != nil {
		return nil, err
	}
	b := &openWorkspace{m: m, workspace: workspace, session: name, gate: gate}
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if b.permit, err = m.permitted(ctx, gate, session, workspace, tip); err != nil {
		return nil, err
	}
	if b.header, err = view.Header(ctx, m.store, session.Info.ID); err != nil {
		return nil, err
	}
	timeout, err := trust.CallTimeout(b.header)
	if err != nil {
		return nil, trust.InSession(name, err)
	}
	if err := m.finishRename(ctx, workspace); err != nil {
		return nil, err
	}
	p, o := b.permit, plugins.Options{Timeout: timeout, Keep: m.keeper(workspace)}
	if tip.ID != "" {
		o.Tip = &tip
	}
	if there, err := m.env.Workspaces.Instance(ctx, workspace); errors.Is(err, domarkx.ErrNotFound) || err == nil && there.Head == "" {
		if p, err = b.mayLoad(ctx, tip); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if b.live, err = m.env.Workspaces.Open(ctx, p, o); err != nil {
		return nil, err
	}
	if err := b.catchUp(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// mayLoad returns the permit to load a version.
func (b *openWorkspace) mayLoad(ctx context.Context, v domarkx.Version) (permit.Permit, error) {
	return b.gate.Permit(ctx, trust.Load{Into: b.permit, From: b.tip, To: v})
}

// keeper returns a function that stores the live state of a workspace whose load was interrupted.
// It commits the state as a separate version, followed by the newest version so far.
func (m *Manager) keeper(workspace string) func(context.Context, *plugins.Changes) error {
	return func(ctx context.Context, c *plugins.Changes) error {
		newest, err := m.store.WorkspaceTipOrNone(ctx, workspace)
		if err != nil {
			return err
		}
		if sameVersions(c.Resources, newest.Resources) {
			c.Abort()
			return nil
		}
		b := &openWorkspace{m: m, workspace: workspace, tip: newest}
		var loaded domarkx.Version
		request := versionRequest{operation: "change", subject: "what was there when a version was loaded only in part", changed: true}
		if _, err := b.store(ctx, c.Resources, request, b.continueWith(ctx, newest, &loaded)); err != nil {
			return err
		}
		return c.Settle()
	}
}

// permitted returns the permit to open a workspace for a session. tip is the newest version of the workspace; its ID is empty
// if there is none.
func (m *Manager) permitted(ctx context.Context, gate *trust.Gate, session trust.Session, workspace string, tip domarkx.Version) (permit.Permit, error) {
	open := trust.Open{Session: session, Workspace: workspace, Tip: tip}
	private, err := m.isPrivate(ctx, workspace)
	if err != nil {
		return permit.Permit{}, err
	}
	if private {
		open.In = permit.Private
	}
	p, err := gate.Permit(ctx, open)
	if err == nil && len(p.What().Resources) == 0 {
		err = engine.NoWorkspace(session.Info.Name)
	}
	return p, err
}

func sameSpecs(a, b []domarkx.ResourceSpec) bool {
	return slices.EqualFunc(a, b, func(a, b domarkx.ResourceSpec) bool {
		return a.ID == b.ID && a.Type == b.Type && a.Config.Equal(b.Config)
	})
}

func sameVersions(a, b []domarkx.ResourceVersion) bool {
	return sameSpecs(trust.SpecsOf(a), trust.SpecsOf(b)) &&
		slices.EqualFunc(a, b, func(a, b domarkx.ResourceVersion) bool { return a.Version == b.Version })
}

// close ends everything that runs for the workspace and unlocks it.
func (b *openWorkspace) close(ctx context.Context) error { return b.live.Close(ctx) }

// catchUp brings a newly opened workspace up to date.
func (b *openWorkspace) catchUp(ctx context.Context) error {
	if err := b.derive(ctx); err != nil {
		return err
	}
	if err := b.recordInterrupted(ctx); err != nil {
		return err
	}
	if err := b.follow(ctx); err != nil {
		return err
	}
	isNew := b.tip.ID == ""
	if wanted := b.permit.What().Resources; !sameSpecs(b.live.Specs(), wanted) {
		if !isNew { // otherwise the document changed, because its resources could not be created
			if err := b.commitChanges(ctx); err != nil {
				return err
			}
		}
		if _, err := b.live.Reconfigure(ctx, b.permit); err != nil || isNew {
			return err
		}
	} else if isNew || sameSpecs(trust.SpecsOf(b.tip.Resources), wanted) {
		return nil
	} // otherwise the loaded version had other resources
	return b.commitAs(ctx, b.live.Commit, "configure", "change the resources", true)
}

// derive sets b.tip to the version that the live state derives from.
func (b *openWorkspace) derive(ctx context.Context) error {
	head := b.live.Head()
	if head == "" {
		return nil
	}
	newest, err := b.m.store.WorkspaceTipOrNone(ctx, b.workspace)
	if err != nil {
		return err
	}
	tip, err := b.m.sessions.InPlaceOf(ctx, head, newest.ID, b.m.store.IsEarlier)
	if err != nil {
		return err
	}
	b.replaced = tip != head
	b.tip, err = b.m.store.VersionOrStub(ctx, tip) // the live workspace knows what files it has
	return err
}

// follow updates the live state if the workspace has a newer version, for example from a pull. It
// first commits local changes, so that nothing is lost.
func (b *openWorkspace) follow(ctx context.Context) error {
	newest, err := b.m.store.WorkspaceTipOrNone(ctx, b.workspace)
	if err != nil {
		return err
	}
	if half := b.live.Unfinished(); half != nil { // opening just tried to complete the load
		loading, err := b.m.store.Version(ctx, b.live.Loading())
		if newest.ID == "" || err == nil && sameVersions(newest.Resources, loading.Resources) {
			return fmt.Errorf("workspace %q: %w", b.workspace, half)
		}
		return b.load(ctx, newest)
	}
	if newest.ID == "" || newest.ID == b.tip.ID && !b.replaced {
		return nil
	}
	if _, err := b.mayLoad(ctx, newest); err != nil {
		return err // before anything is committed
	}
	changes, err := b.live.Commit(ctx)
	if err != nil {
		return err
	}
	if sameVersions(changes.Resources, newest.Resources) { // the process was killed before it recorded the commit
		if err := changes.Settle(); err != nil {
			return err
		}
		b.tip = newest
		return b.live.Committed(ctx, newest)
	}
	if !changes.Changed {
		changes.Abort()
		return b.load(ctx, newest)
	}
	var loaded domarkx.Version
	request := versionRequest{operation: "change", subject: "change made here", changed: true, redacted: b.replaced}
	if err := b.commit(ctx, changes, request, b.continueWith(ctx, newest, &loaded)); err != nil {
		return err
	}
	return b.load(ctx, loaded)
}

func (b *openWorkspace) load(ctx context.Context, v domarkx.Version) error {
	p, err := b.mayLoad(ctx, v)
	if err != nil {
		return err
	}
	b.tip = v
	return b.live.Load(ctx, p, v)
}

// commitChanges commits changes since the last version that were not made by a call.
func (b *openWorkspace) commitChanges(ctx context.Context) error {
	return b.commitAs(ctx, b.live.Commit, "change", changeSubject, false)
}

const changeSubject = "change between calls"

// commitAs commits the live state. Without changes, it does so only if always is set.
func (b *openWorkspace) commitAs(ctx context.Context, commit func(context.Context) (*plugins.Changes, error), operation, subject string, always bool) error {
	changes, err := commit(ctx)
	if err != nil {
		return err
	}
	if !changes.Changed && !always {
		changes.Abort()
		return nil
	}
	if changes.Restarted && operation == "change" {
		subject = "found after a restart of the machine"
		b.live.Warn(fmt.Sprintf("workspace %[1]q: it changed since its last version, and the machine was restarted since then. What is there now is a version of its own; if power failed, compare the two with git domarkx workspace diff %[1]s~1 %[1]s", b.workspace))
	}
	return b.commit(ctx, changes, versionRequest{operation: operation, subject: subject, changed: true}, nil)
}

// leavesOut reports whether changes leave out other files than the version before.
func (b *openWorkspace) leavesOut(c *plugins.Changes) bool {
	if len(c.LeftOut) == 0 {
		return false
	}
	was := codec.CleanObservation(domarkx.Observation{LeftOut: c.LeftOut})
	return b.tip.Observed == nil || !slices.Equal(was.LeftOut, b.tip.Observed.LeftOut)
}

// A versionRequest describes a version to create.
type versionRequest struct {
	operation string
	subject   string
	call      *domarkx.CallRecord
	changed   bool // if false, no version is created unless there is none yet
	leftOut   []domarkx.LeftOut
	redacted  bool // store it without secrets, as the versions before it are
}

// commit stores changes as a version. It calls also, if not nil, in the same update with the version of the live state.
func (b *openWorkspace) commit(ctx context.Context, changes *plugins.Changes, r versionRequest, also func(tx *transaction.Tx, v domarkx.Version) error) error {
	r.leftOut = changes.LeftOut
	v, err := b.store(ctx, changes.Resources, r, also)
	if err != nil {
		changes.Abort()
		return err
	}
	if !r.changed {
		changes.Abort()
		return nil
	}
	b.tip = v
	return errors.Join(changes.Settle(), b.live.Committed(ctx, v))
}

// store commits a version of the workspace with the given resources. If the workspace moved in
// the meantime, for example by a pull, the version gets both as parents.
func (b *openWorkspace) store(ctx context.Context, resources []domarkx.ResourceVersion, r versionRequest, also func(tx *transaction.Tx, v domarkx.Version) error) (domarkx.Version, error) {
	author, committer, err := b.m.env.Identity(ctx)
	if err != nil {
		return domarkx.Version{}, err
	}
	var v domarkx.Version
	err = b.m.sessions.Update(ctx, r.operation+" "+b.workspace, func(tx *transaction.Tx) error {
		v = b.tip
		if r.redacted {
			if resources, err = b.redact(ctx, tx, resources); err != nil {
				return err
			}
		}
		if r.changed || v.ID == "" {
			c := domarkx.VersionCommit{Resources: resources, Operation: r.operation, Subject: r.subject, Call: r.call, Author: author, Committer: committer}
			if len(r.leftOut) > 0 {
				c.Observed = &domarkx.Observation{LeftOut: r.leftOut}
			}
			if v, err = b.storeVersion(ctx, tx, c); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(tx, v)
	})
	return v, err
}

// redact returns resources without the secrets in their text files, if the session was redacted.
func (b *openWorkspace) redact(ctx context.Context, tx *transaction.Tx, resources []domarkx.ResourceVersion) ([]domarkx.ResourceVersion, error) {
	if _, err := tx.Tip(ctx, b.session); err != nil {
		return nil, err
	}
	filter, err := tx.Filter(ctx, b.session)
	if err != nil {
		return nil, err
	}
	redacted, done := slices.Clone(resources), map[string]string{}
	for i, r := range redacted {
		if b.m.env.Workspaces.IsDump(ctx, r.Type) {
			continue
		}
		redacted[i].Version, err = tx.RewriteFiles(ctx, r.Version, done, func(_ string, content domarkx.Blob) ([]byte, error) {
			if content.Chunks != "" {
				return nil, nil
			}
			data, err := tx.Read(ctx, content)
			if err != nil {
				return nil, err
			}
			now, err := filter.Bytes(ctx, data)
			if err != nil || bytes.Equal(now, data) {
				return nil, err
			}
			return now, nil
		})
		if err != nil {
			return nil, fmt.Errorf("resource %q: %w", r.ID, err)
		}
	}
	return redacted, nil
}

// continueWith returns a function for [openWorkspace.store] that adds a second version in the same
// update, with the resources of newest, and sets loaded to it. The first version is thus never the
// newest one, even after a kill, because nobody wants to continue from it.
func (b *openWorkspace) continueWith(ctx context.Context, newest domarkx.Version, loaded *domarkx.Version) func(tx *transaction.Tx, v domarkx.Version) error {
	return func(tx *transaction.Tx, v domarkx.Version) error {
		if newest.ID == "" {
			return nil
		}
		author, committer, err := b.m.env.Identity(ctx)
		if err != nil {
			return err
		}
		*loaded, err = tx.CommitVersion(ctx, b.workspace, domarkx.VersionCommit{Parents: []string{v.ID}, Resources: newest.Resources,
			Operation: "load", Subject: "go on from " + newest.ID[:12], Author: author, Committer: committer})
		if err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, b.workspace, loaded.ID)
	}
}

func (b *openWorkspace) storeVersion(ctx context.Context, tx *transaction.Tx, c domarkx.VersionCommit) (domarkx.Version, error) {
	newest, err := tx.WorkspaceTipOrNone(ctx, b.workspace)
	if err != nil {
		return domarkx.Version{}, err
	}
	tip, err := b.m.sessions.InPlaceOf(ctx, b.tip.ID, newest.ID, tx.IsEarlier) // it may have been replaced since
	if err != nil {
		return domarkx.Version{}, err
	}
	for _, parent := range []string{newest.ID, tip} {
		if parent != "" && !slices.Contains(c.Parents, parent) {
			c.Parents = append(c.Parents, parent)
		}
	}
	before := newest.Resources
	if before == nil {
		before = b.tip.Resources
	}
	if c.Ignored, err = b.ignored(ctx, before, c.Resources); err != nil {
		return domarkx.Version{}, err
	}
	v, err := tx.CommitVersion(ctx, b.workspace, c)
	if err != nil {
		return v, err
	}
	return v, tx.SetWorkspace(ctx, b.workspace, v.ID)
}

// ignored returns the files, as RESOURCE/PATH, that versions of resources add to others and that the repository
// ignores. Their rules may be gone when the version is sent.
func (b *openWorkspace) ignored(ctx context.Context, before, now []domarkx.ResourceVersion) ([]string, error) {
	if b.m.env.WorkTree == "" {
		return nil, nil
	}
	places := ignored.New(b.m.store, b.m.env.WorkTree)
	if err := places.Add(ctx, "", before, now); errors.Is(err, domarkx.ErrNotFound) {
		return nil, nil // of a redacted state, which only this update stores: push looks at the rules
	} else if err != nil {
		return nil, err
	}
	files, err := places.Ignored(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for ignored files: %w", err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Resource+"/"+f.Path)
	}
	return paths, nil
}
