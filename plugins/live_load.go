package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/permit"
)

// Load replaces the state of every resource by the version of the workspace that a permit names, which
// becomes the head. It opens only the resources of the permit, with their configs there, since a version
// may come from anybody. It tears down resources that the version does not contain and creates missing
// ones. If the permit configures a resource differently, Changed is true afterwards.
//
// Uncommitted changes are discarded, except those of an unfinished load (see
// [Options].Keep). Problems that can be detected in advance are reported before anything
// changes. The next Open resumes a load that was interrupted or failed; until it or another
// load succeeds, the live state is Unfinished.
func (l *Live) Load(ctx context.Context, p permit.Permit, v domarkx.Version) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.allows(p, p.What().Version == v.ID && len(p.What().Resources) > 0); err != nil {
		return fmt.Errorf("loading version %s: %w", v.ID, err)
	}
	l.requested = p.What().Resources
	if len(v.Resources) == 0 {
		return fmt.Errorf("loading version %s of workspace %q: it names no resources: %w", v.ID, l.state.Name, domarkx.ErrInvalid)
	}
	if err := l.checkLoad(ctx, v.Resources); err != nil && ctx.Err() == nil && !l.state.Temporary {
		return fmt.Errorf("loading version %s: %w; nothing was changed, and a rewind leads to another version", v.ID, err)
	} else if err != nil {
		return fmt.Errorf("loading version %s: %w", v.ID, err)
	}
	if err := l.keepUnfinished(ctx); err != nil {
		return fmt.Errorf("loading version %s: %w", v.ID, err)
	}
	l.state.Loading = &loading{v.ID, v.Resources, l.requested}
	if err := l.save(); err != nil {
		return err
	}
	return l.load(ctx)
}

// KeepUnfinished calls [Options].Keep with the live state if it is Unfinished.
func (l *Live) KeepUnfinished(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keepUnfinished(ctx)
}

func (l *Live) keepUnfinished(ctx context.Context) error {
	if l.state.Loading == nil || l.keep == nil {
		return nil
	}
	c, err := l.commitUnfinished(ctx)
	if err == nil && (len(c.Resources) == 0 || slices.Equal(l.state.Kept, versionsOf(c.Resources))) {
		c.Abort()
		return nil
	}
	if err == nil {
		err = l.keep(ctx, c)
	}
	if err != nil {
		c.Abort()
		return fmt.Errorf("storing the live state of a version that was loaded only in part: %w", err)
	}
	l.state.Kept = versionsOf(c.Resources)
	return l.save()
}

// commitUnfinished commits the live state of an unfinished load.
func (l *Live) commitUnfinished(ctx context.Context) (*Changes, error) {
	c := &Changes{}
	for i := range l.resources {
		e := &l.state.Resources[i]
		version := l.state.committedVersion(e.ID, e.Type)
		if l.resources[i].live != nil && !l.uncompared(e) {
			e.Dirty = true // the flag dates from before the load
			var err error
			if version, err = l.commit(ctx, i, c); err != nil {
				return c, err
			}
		}
		if version != "" {
			c.Resources = append(c.Resources, domarkx.ResourceVersion{ResourceSpec: e.ResourceSpec, Version: version})
		}
	}
	return c, nil
}

// recordUnfinished records the state that a failed load left, so that [Options].Keep is not called
// for it: it contains no work of anybody. If the state cannot be read, Keep is called although
// nothing is lost.
func (l *Live) recordUnfinished(ctx context.Context) {
	if l.keep == nil || ctx.Err() != nil {
		return
	}
	c, err := l.commitUnfinished(ctx)
	c.Abort()
	if err == nil {
		l.state.Kept = versionsOf(c.Resources)
		_ = l.save() // otherwise it is determined again the next time
	}
}

// Unfinished returns why the live state is only a part of the version loaded last, nil if it
// is not. An unfinished state cannot be committed, and tools cannot be called on it.
func (l *Live) Unfinished() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unfinished()
}

// errInterrupted is the cause of an unfinished load if no other is known.
var errInterrupted = errors.New("the program ended during the load")

// Loading returns the id of the version whose load is unfinished; "" for none.
func (l *Live) Loading() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Loading == nil {
		return ""
	}
	return l.state.Loading.ID
}

func (l *Live) unfinished() error {
	if l.state.Loading == nil {
		return nil
	}
	return fmt.Errorf("version %s was loaded only in part: %w; mend that and repeat the command, or rewind to another version",
		l.state.Loading.ID, cmp.Or(l.broke, errInterrupted))
}

// resume finishes a load that was killed or failed. If it fails again, only another Load can
// end the unfinished state.
func (l *Live) resume(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.requested) == 0 { // the configs of a version are still not trusted
		l.requested = l.state.Loading.Asked
		defer func() { l.requested = nil }()
	}
	err := l.checkLoad(ctx, l.state.Loading.Resources)
	if err == nil {
		err = l.keepUnfinished(ctx)
	}
	if err == nil {
		err = l.load(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	l.broke = err
	return nil
}

// load loads the version that the state names as being loaded.
func (l *Live) load(ctx context.Context) error {
	v := *l.state.Loading
	if err := l.loadResources(ctx, v.Resources, l.state.Head == ""); err != nil {
		l.broke = err
		l.recordUnfinished(ctx)
		return fmt.Errorf("loading version %s: %w", v.ID, err)
	}
	l.state.Loading, l.state.Given, l.state.Kept, l.broke = nil, nil, nil, nil
	l.state.Head, l.state.Committed, l.state.Boot = v.ID, v.Resources, l.m.config.Boot
	for i := range l.state.Resources {
		e := &l.state.Resources[i]
		e.Dirty, e.New, e.Filled = false, false, false
	}
	return l.save()
}

// checkLoad rejects a version that cannot be loaded, before anything changes.
func (l *Live) checkLoad(ctx context.Context, all []domarkx.ResourceVersion) error {
	resources := l.requestedOf(all)
	if err := l.m.Check(ctx, specsOf(resources)); err != nil {
		return err
	}
	for _, r := range resources {
		if err := l.checkVersion(ctx, r); err != nil {
			return &ResourceError{"loading", r.ID, err}
		}
	}
	return nil
}

// checkVersion rejects a version of a resource, which may be from an untrusted source.
func (l *Live) checkVersion(ctx context.Context, r domarkx.ResourceVersion) error {
	base := l.state.committedVersion(r.ID, r.Type)
	if err := l.m.versions.CheckVersion(ctx, base, r.Version); err != nil {
		return err
	}
	if err := l.m.CheckVersion(ctx, r); err != nil {
		return err
	}
	i := l.index(r.ID)
	if i < 0 || l.resources[i].live == nil || l.state.Resources[i].Type != r.Type {
		return nil // a new resource has nothing to lose
	}
	return l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error {
		if c, ok := live.(domarkx.LoadChecker); ok {
			return c.CheckLoad(ctx, l.m.versions, base, r.Version)
		}
		return nil
	})
}

func specsOf(resources []domarkx.ResourceVersion) []domarkx.ResourceSpec {
	specs := make([]domarkx.ResourceSpec, len(resources))
	for i, r := range resources {
		specs[i] = r.ResourceSpec
	}
	return specs
}

func (l *Live) loadResources(ctx context.Context, all []domarkx.ResourceVersion, fresh bool) error {
	resources := l.requestedOf(all)
	specs := specsOf(resources)
	if _, err := l.removeOthers(ctx, specs); err != nil {
		return err
	}
	for _, r := range resources {
		i := l.index(r.ID)
		if i < 0 {
			i = l.add(r.ResourceSpec)
			l.state.Resources[i].New = true
			if err := l.save(); err != nil {
				return err
			}
		}
		loaded, err := l.openFor(ctx, i, r, fresh)
		if err != nil {
			return err
		}
		if loaded {
			continue
		}
		err = l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Load(ctx, l.m.versions, r.Version) })
		if err != nil {
			return &ResourceError{"loading", r.ID, err}
		}
	}
	l.order(specs)
	return nil
}

// requestedOf returns the resources of a version that are asked for, with the configs that were
// asked for.
func (l *Live) requestedOf(all []domarkx.ResourceVersion) []domarkx.ResourceVersion {
	if len(l.requested) == 0 {
		return all
	}
	var resources []domarkx.ResourceVersion
	for _, r := range all {
		i := slices.IndexFunc(l.requested, func(s domarkx.ResourceSpec) bool { return s.ID == r.ID && s.Type == r.Type })
		if i >= 0 {
			resources = append(resources, domarkx.ResourceVersion{ResourceSpec: l.requested[i], Version: r.Version})
		}
	}
	return resources
}

// openFor opens a resource to load a version, and reports whether it already matches. A new
// resource works at its path only if the path is vacant or matches the version; otherwise it
// becomes a private copy and the path is left alone.
func (l *Live) openFor(ctx context.Context, i int, r domarkx.ResourceVersion, fresh bool) (bool, error) {
	e := &l.state.Resources[i]
	if !e.Config.Equal(r.Config) {
		if err := l.reopen(ctx, i, r.ResourceSpec); err != nil {
			return false, err
		}
	}
	inPlace := !e.Private && namesPath(l.m.config.WorkTree, e.Config)
	if !inPlace || e.Created && !fresh && !e.New {
		return false, l.open(ctx, i)
	}
	path, err := l.pathOf(e.Config)
	if err != nil {
		return false, &ResourceError{"opening", e.ID, err}
	}
	if !e.Filled && isVacant(path) {
		e.New, e.Filled = false, true
		if err := l.save(); err != nil {
			return false, err
		}
	}
	if e.Filled {
		return false, l.open(ctx, i)
	}
	if exists(path) {
		if err := l.open(ctx, i); err != nil {
			return false, err
		}
		if e.Private { // another instance holds it
			return false, nil
		}
		same, err := l.holds(ctx, i, r.Version)
		if err != nil {
			return false, err
		}
		if same {
			e.New = false
			return true, l.save()
		}
	}
	l.m.warn(fmt.Sprintf("workspace %q: resource %q gets a private copy, since the content at its path differs from its newest version", l.state.Name, e.ID))
	if err := l.tearDownAt(ctx, i); err != nil {
		return false, err
	}
	e.Private, e.New, e.Created, e.LockedPath, e.Path = true, false, false, "", ""
	if err := l.save(); err != nil {
		return false, err
	}
	return false, l.open(ctx, i)
}

// uncompared reports whether the content at the path of a resource may belong to somebody else:
// the load that creates the resource ended before comparing it.
func (l *Live) uncompared(e *entry) bool {
	return e.New && !e.Private && namesPath(l.m.config.WorkTree, e.Config)
}

// isVacant reports whether a path does not exist or is an empty directory.
func isVacant(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return errors.Is(err, fs.ErrNotExist)
	}
	files, err := os.ReadDir(path)
	return err == nil && len(files) == 0
}

// holds reports whether a resource matches a version.
func (l *Live) holds(ctx context.Context, i int, version string) (bool, error) {
	p, err := l.m.versions.Begin(ctx, version)
	if err != nil {
		return false, err
	}
	defer p.Abort()
	if err := l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Commit(ctx, p) }); err != nil {
		return false, ctx.Err() // a state that cannot be committed matches no version
	}
	now, err := p.Finish(ctx)
	return now == version, err
}
