package plugins

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/permit"
)

// Options configure Open.
type Options struct {
	// Tip is the newest version of the workspace with its resources; nil for none.
	Tip *domarkx.Version
	// NoWait makes Open return domarkx.ErrConflict while another process holds the instance.
	NoWait bool
	// Keep stores the live state of an unfinished load before another load overwrites it, since
	// somebody may have worked on it. Like a caller of Commit, it must call Settle or Abort on the
	// changes, but it must not call Committed. Without Keep, the state is discarded.
	Keep func(ctx context.Context, c *Changes) error
	// Timeout is the timeout of calls; 0 is that of the resource type, or else of Config.
	Timeout time.Duration
}

// Live is an instance that this process holds; other processes wait for it. Its methods are
// safe for concurrent use and run one at a time.
type Live struct {
	m               *WorkspaceManager
	until           time.Time     // when the timeout of the last call ends
	timeout         time.Duration // of calls; 0 is that of the resource type or of the manager
	keep            func(context.Context, *Changes) error
	onlyDirectories bool                   // see [permit.Directories]
	requested       []domarkx.ResourceSpec // that the permit of the opening, or of the last load, names
	forced          bool                   // remove resources even if their plugins fail

	mu        sync.Mutex
	lock      *lock
	dir       string
	state     state
	resources []*resource // in the order of state.Resources
	closed    bool
	broke     error // why the load that the state names failed, if this process knows
}

// A resource is one resource of an instance, open or not.
type resource struct {
	resourceType *resourceType
	live         domarkx.Resource // nil while it is closed
	secrets      *redactor        // of its config, for its errors
	err          error            // why it is closed
	busy         chan struct{}    // closed when the plugin's last code returns; nil before
	own          *toolSet         // the tools of a domarkx.ToolLister, nil until they are needed
}

// Open locks the instance of a permit's workspace, waiting while another process holds it, and creates
// or opens the permit's resources. An existing instance stays the same until Reconfigure. For a permit
// with the right [permit.Live], it opens what there is, and returns domarkx.ErrNotFound if there is none.
func (m *WorkspaceManager) Open(ctx context.Context, p permit.Permit, o Options) (*Live, error) {
	name := p.What().Workspace
	if p.Right() == permit.None || name == "" {
		return nil, fmt.Errorf("opening workspace %q: %w", name, errNotPermitted)
	}
	if p.Confinement() != permit.Directories {
		m.sweep(ctx)
	}
	l, err := m.acquire(ctx, name, p, o)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	if err := l.start(ctx, p, o); err != nil {
		l.abandon()
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	return l, nil
}

// errNotPermitted reports that a permit does not cover what its holder does.
var errNotPermitted = errors.New("nothing permits that")

// acquire locks an instance and reads its state, which is empty for a new one. Only a permit to open
// resources creates one.
func (m *WorkspaceManager) acquire(ctx context.Context, name string, p permit.Permit, o Options) (*Live, error) {
	dir := filepath.Join(m.config.Dir, directoryName(name))
	temporary, existing := p.Confinement() == permit.Temporary, p.Right() == permit.None || p.Right() == permit.Live
	if temporary {
		dir = filepath.Join(m.config.Dir, temporaryPrefix+random())
	}
	if existing {
		if _, err := readState(dir); err != nil {
			return nil, err
		}
	}
	lock, err := lockDirectory(ctx, dir, o.NoWait)
	if err != nil {
		return nil, err
	}
	st, err := readState(dir)
	if errors.Is(err, domarkx.ErrNotFound) && !existing {
		st, err = state{Name: name, Private: temporary || p.Confinement() == permit.Private, Temporary: temporary}, nil
	}
	if err != nil {
		lock.release()
		return nil, err
	}
	st.Name, st.Renaming = name, ""
	l := m.held(lock, dir, st)
	l.timeout, l.onlyDirectories, l.requested, l.keep = max(o.Timeout, 0), p.Confinement() == permit.Directories, p.What().Resources, o.Keep
	return l, nil
}

// held returns an instance that is locked, with its resources closed.
func (m *WorkspaceManager) held(lock *lock, dir string, s state) *Live {
	l := &Live{m: m, lock: lock, dir: dir, state: s}
	for range s.Resources {
		l.resources = append(l.resources, &resource{})
	}
	return l
}

// start opens, loads or creates the resources.
func (l *Live) start(ctx context.Context, p permit.Permit, o Options) error {
	if err := l.finishRemovals(ctx); err != nil {
		return err
	}
	fresh := l.state.Head == "" && l.state.Loading == nil && !l.anyCreated()
	switch {
	case fresh && p.Right() == permit.Live:
		return nil // nothing is live
	case fresh && o.Tip != nil:
		return l.Load(ctx, p, *o.Tip)
	case fresh:
		if err := l.setSpecs(ctx, l.requested); err != nil {
			return err
		}
	}
	if err := l.openResources(ctx); err != nil {
		return err
	}
	if l.state.Loading != nil {
		if err := l.resume(ctx); err != nil {
			return err
		}
	}
	return l.adopt(o.Tip)
}

func (l *Live) anyCreated() bool {
	return slices.ContainsFunc(l.state.Resources, func(e entry) bool { return e.Created })
}

// openResources opens the resources of the state. If one cannot be opened and the document configures
// it differently, it is left to Reconfigure, or removed if it was never created.
func (l *Live) openResources(ctx context.Context) error {
	for i := 0; i < len(l.state.Resources); i++ {
		e := &l.state.Resources[i]
		if l.onlyDirectories && e.Path == "" {
			continue
		}
		err := l.open(ctx, i)
		if err == nil {
			if err := l.regain(ctx, i); err != nil {
				return err
			}
			continue
		}
		wanted := slices.ContainsFunc(l.requested, func(s domarkx.ResourceSpec) bool { return sameSpec(s, e.ResourceSpec) })
		if ctx.Err() != nil || len(l.requested) == 0 || wanted {
			return err
		}
		l.resources[i].err = err
		if !e.Created {
			if err := l.removeAt(ctx, i); err != nil {
				return err
			}
			i--
		}
	}
	return nil
}

// adopt makes tip the head if tip contains the resources that this instance committed last. Then
// the process that committed them was killed before it called Committed.
func (l *Live) adopt(tip *domarkx.Version) error {
	if tip == nil || l.state.Head == tip.ID || l.state.Given == nil || !slices.Equal(versionsOf(tip.Resources), l.state.Given) {
		return nil
	}
	if l.state.Head != "" && !slices.Contains(tip.Parents, l.state.Head) {
		return nil
	}
	return l.committed(*tip)
}

// Head returns the id of the version that the live state derives from; "" for none.
func (l *Live) Head() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Head
}

// Warn shows a message to the user, once.
func (l *Live) Warn(message string) { l.m.warn(message) }

// Name returns the name of the workspace.
func (l *Live) Name() string { return l.state.Name }

// Specs returns the live resources in the order of the document.
func (l *Live) Specs() []domarkx.ResourceSpec {
	l.mu.Lock()
	defer l.mu.Unlock()
	specs := make([]domarkx.ResourceSpec, len(l.state.Resources))
	for i, e := range l.state.Resources {
		specs[i] = e.ResourceSpec
	}
	return specs
}

// Paths returns the directories of the resources that have one, by resource id.
func (l *Live) Paths() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	paths := map[string]string{}
	for _, e := range l.state.Resources {
		if e.Path != "" {
			paths[e.ID] = e.Path
		}
	}
	return paths
}

// Close stops the resources and releases the instance. A temporary instance is torn down.
// Close continues when ctx is cancelled.
func (l *Live) Close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if l.state.Temporary {
		return l.tearDown(ctx)
	}
	err := l.closeResources(ctx)
	return errors.Join(err, l.lock.release())
}

// closeTimeout bounds how long the plugins may take to stop.
const closeTimeout = time.Minute

func (l *Live) closeResources(ctx context.Context) error {
	var errs []error
	for i, r := range l.resources {
		if r == nil || r.live == nil {
			continue
		}
		if err := l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Close(ctx) }); err != nil {
			errs = append(errs, fmt.Errorf("stopping resource %q: %w", l.state.Resources[i].ID, err))
		}
		r.live = nil
	}
	return errors.Join(errs...)
}

// abandon releases an instance that could not be opened.
func (l *Live) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	l.closed = true
	if l.state.Temporary || !l.anyCreated() && l.state.Head == "" {
		_ = l.tearDown(ctx) // the caller returns the error that prevented opening
		return
	}
	_ = l.closeResources(ctx)
	l.lock.release()
}
