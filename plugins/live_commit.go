package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/limit"
)

// Changed reports whether the live state may differ from the head. It is true without a head.
func (l *Live) Changed(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Head == "" || l.state.Loading != nil || !slices.EqualFunc(l.state.Resources, l.state.Committed, func(e entry, r domarkx.ResourceVersion) bool {
		return sameSpec(e.ResourceSpec, r.ResourceSpec)
	}) {
		return true, nil
	}
	for i := range l.resources {
		if changed, err := l.changed(ctx, i); changed || err != nil {
			return changed, err
		}
	}
	return false, nil
}

// Differs reports whether the live state differs from the head. If Changed reports only a possible
// change, Differs stores the resources, compares their versions with the head's, and discards them.
func (l *Live) Differs(ctx context.Context) (bool, error) {
	changed, err := l.Changed(ctx)
	if err != nil || !changed || l.knownChanged() {
		return changed, err
	}
	c, err := l.Commit(ctx)
	if err != nil {
		return true, ctx.Err() // a state that cannot be committed is in no version
	}
	c.Abort()
	return c.Changed, nil
}

// knownChanged reports whether resources are known to differ from the head, or the head is missing.
func (l *Live) knownChanged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Head == "" || l.state.Loading != nil || slices.ContainsFunc(l.state.Resources, func(e entry) bool { return e.Dirty })
}

// changed reports whether a resource may differ from the head.
func (l *Live) changed(ctx context.Context, i int) (changed bool, err error) {
	e := &l.state.Resources[i]
	if l.state.committedVersion(e.ID, e.Type) == "" {
		return true, nil
	}
	if why, _ := l.lost(i); why != nil {
		return false, nil // nothing can be committed
	}
	if e.Dirty {
		return true, nil
	}
	if l.resources[i].live == nil {
		return false, nil // a closed resource cannot be committed
	}
	err = l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error {
		var err error
		changed, err = live.Changed(ctx)
		return err
	})
	if err != nil {
		return false, &ResourceError{"looking for changes of", e.ID, err}
	}
	return changed, nil
}

// committedVersion returns the version of a resource in the head, "" for none.
func (s *state) committedVersion(id, kind string) string {
	for _, r := range s.Committed {
		if r.ID == id && r.Type == kind {
			return r.Version
		}
	}
	return ""
}

// Changes is the live state, stored durably, for a version of the workspace.
type Changes struct {
	Resources []domarkx.ResourceVersion // in the order of the document
	Changed   bool                      // whether Resources differ from the head
	LeftOut   []domarkx.LeftOut         // files that the versions do not contain, with paths that begin with the id of their resource
	// Restarted reports that the machine was restarted since the live state last matched the
	// head: a power cut rather than a user may have changed it.
	Restarted bool
	pending   []Pending
}

// Settle must be called after a ref points to the version.
func (c *Changes) Settle() error {
	var errs []error
	for _, p := range c.pending {
		errs = append(errs, p.Settle())
	}
	c.pending = nil
	return errors.Join(errs...)
}

// Abort discards the version. It does nothing after Settle.
func (c *Changes) Abort() {
	for _, p := range c.pending {
		p.Abort()
	}
	c.pending = nil
}

// Commit stores the resources. It does not read unchanged ones again. The caller must call
// Settle or Abort on the result, and Committed once a version contains it.
func (l *Live) Commit(ctx context.Context) (*Changes, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.unfinished(); err != nil {
		return nil, err
	}
	c := &Changes{}
	for i := range l.resources {
		e := &l.state.Resources[i]
		version, err := l.commit(ctx, i, c)
		if err != nil {
			c.Abort()
			return nil, err
		}
		if lister, ok := l.resources[i].live.(domarkx.OutLister); ok && !l.skips(i) {
			for _, f := range lister.LeftOut() {
				c.LeftOut = append(c.LeftOut, domarkx.LeftOut{Path: e.ID + "/" + f.Path, Reason: f.Reason})
			}
		}
		c.Resources = append(c.Resources, domarkx.ResourceVersion{ResourceSpec: e.ResourceSpec, Version: version})
	}
	c.Changed = l.state.Head == "" || !slices.EqualFunc(c.Resources, l.state.Committed, sameVersion)
	if !c.Changed {
		return c, l.unchanged()
	}
	c.Restarted = l.restarted()
	l.state.Given = versionsOf(c.Resources)
	if err := l.save(); err != nil {
		c.Abort()
		return nil, err
	}
	return c, nil
}

// CommitCall is Commit after a call, whose timeout also covers the commit. If ctx has ended before, so that the call
// was interrupted, or the call used up its timeout, the commit has [Config].Grace.
func (l *Live) CommitCall(ctx context.Context) (*Changes, error) {
	l.mu.Lock()
	until := time.Now().Add(l.m.config.Grace)
	switch {
	case ctx.Err() != nil:
		ctx = context.WithoutCancel(ctx)
	case l.until.IsZero(): // another process made the call
		until = time.Now().Add(cmp.Or(l.timeout, l.m.config.Timeout))
	case l.until.After(until):
		until = l.until
	}
	l.mu.Unlock()
	return l.commitUntil(ctx, until)
}

// CommitBeforeCall is Commit before a call, with the same timeout: own is that of the call, 0 if it has none. It has at least
// [Config].Grace.
func (l *Live) CommitBeforeCall(ctx context.Context, own time.Duration) (*Changes, error) {
	return l.commitUntil(ctx, time.Now().Add(max(cmp.Or(own, l.timeout, l.m.config.Timeout), l.m.config.Grace)))
}

func (l *Live) commitUntil(ctx context.Context, until time.Time) (*Changes, error) {
	reading, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	c, err := l.Commit(reading)
	if err != nil && ctx.Err() == nil && reading.Err() != nil {
		err = fmt.Errorf("%w; a longer timeout of the call gives it more time, and the next call tries again", err)
	}
	return c, err
}

// restarted reports whether the machine was restarted since the live state last matched the
// head.
func (l *Live) restarted() bool {
	return l.state.Head != "" && l.state.Boot != "" && l.m.config.Boot != "" && l.state.Boot != l.m.config.Boot
}

// unchanged records that the resources match the head.
func (l *Live) unchanged() error {
	if l.state.Given == nil && !l.restarted() {
		return nil
	}
	l.state.Given, l.state.Boot = nil, l.m.config.Boot
	l.clean()
	return l.save()
}

// clean marks the resources as unchanged, except those that were skipped.
func (l *Live) clean() {
	for i := range l.state.Resources {
		if !l.skips(i) {
			l.state.Resources[i].Dirty = false
		}
	}
}

// skips reports whether a resource is closed because of Options.OnlyDirectories.
func (l *Live) skips(i int) bool { return l.onlyDirectories && l.resources[i].live == nil }

// commit commits one resource if it changed, and returns its version.
func (l *Live) commit(ctx context.Context, i int, c *Changes) (string, error) {
	e := &l.state.Resources[i]
	base := l.state.committedVersion(e.ID, e.Type)
	if l.skips(i) {
		if base == "" {
			return "", &ResourceError{"committing the state of", e.ID, fmt.Errorf("no version has it, and it is not open: %w", domarkx.ErrNotFound)}
		}
		return base, nil
	}
	if both, ok := l.resources[i].live.(domarkx.ChangeCommitter); ok && !e.Dirty && base != "" {
		return l.commitChange(ctx, i, both, base, c)
	}
	changed, err := l.changed(ctx, i)
	if err != nil || !changed {
		return base, err
	}
	p, err := l.begin(ctx, i, base, c)
	if err != nil {
		return "", err
	}
	err = l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Commit(ctx, p) })
	return l.finish(ctx, i, p, err)
}

func (l *Live) commitChange(ctx context.Context, i int, live domarkx.ChangeCommitter, base string, c *Changes) (string, error) {
	var mu sync.Mutex // after it was abandoned, a plugin must not begin a version
	left := false
	var p Pending
	err := l.use(ctx, i, func(ctx context.Context, _ domarkx.Resource) error {
		_, err := live.CommitChange(ctx, func() (domarkx.VersionWriter, error) {
			mu.Lock()
			defer mu.Unlock()
			if left || p != nil {
				return nil, errAbandoned
			}
			var err error
			p, err = l.begin(ctx, i, base, c)
			return p, err
		})
		return err
	})
	mu.Lock()
	left = true
	mu.Unlock()
	if p == nil && err == nil {
		return base, nil
	}
	return l.finish(ctx, i, p, err)
}

// begin begins a version of a resource.
func (l *Live) begin(ctx context.Context, i int, base string, c *Changes) (Pending, error) {
	e := &l.state.Resources[i]
	if !e.Dirty || l.state.Given == nil {
		// From here on the plugin may compare with the state that it writes now, even if
		// no version ever contains that.
		e.Dirty = true
		if l.state.Given == nil {
			l.state.Given = []string{}
		}
		if err := l.save(); err != nil {
			return nil, err
		}
	}
	p, err := l.m.versions.Begin(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("beginning a version: %w", err)
	}
	c.pending = append(c.pending, p)
	if bounded, ok := p.(BoundedWriter); ok {
		if _, leaves := l.resources[i].live.(domarkx.OutLister); !leaves {
			limits, err := l.m.config.Limits()
			if err != nil {
				return nil, err
			}
			most := limits.Bounds
			bounded.Limit(most.Files, most.Version, limit.Files.Over(most.Files), limit.Version.Over(most.Version))
		}
	}
	return p, nil
}

// finish completes a version after a plugin wrote its state or failed.
func (l *Live) finish(ctx context.Context, i int, p Pending, err error) (version string, _ error) {
	id := l.state.Resources[i].ID
	if err != nil {
		return "", &ResourceError{"committing the state of", id, err}
	}
	if version, err = p.Finish(ctx); err != nil {
		return "", fmt.Errorf("committing the state of resource %q: %w", id, err)
	}
	return version, nil
}

// Committed records that the workspace's ref points to a version with the resources that
// Commit returned.
func (l *Live) Committed(_ context.Context, v domarkx.Version) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.committed(v)
}

func (l *Live) committed(v domarkx.Version) error {
	given := l.state.Given
	l.state.Head, l.state.Committed, l.state.Given, l.state.Boot = v.ID, v.Resources, nil, l.m.config.Boot
	if given == nil || slices.Equal(given, versionsOf(v.Resources)) {
		l.clean()
	}
	return l.save()
}

func (l *Live) save() error { return l.state.write(l.dir) }

func sameSpec(a, b domarkx.ResourceSpec) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Config.Equal(b.Config)
}

func sameVersion(a, b domarkx.ResourceVersion) bool {
	return sameSpec(a.ResourceSpec, b.ResourceSpec) && a.Version == b.Version
}

// versionsOf returns the string "ID VERSION" for each resource.
func versionsOf(resources []domarkx.ResourceVersion) []string {
	versions := make([]string, len(resources))
	for i, r := range resources {
		versions[i] = r.ID + " " + r.Version
	}
	return versions
}
