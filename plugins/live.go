package plugins

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/domarkx/domarkx"
)

// Options say how an instance is opened.
type Options struct {
	// Specs are the resources that the document asks for. They are made when the
	// instance is not here yet and has no Tip; an instance that is here stays what it
	// is until Reconfigure. Load opens no others, and these as they stand here: what
	// a version says of them may have come from anybody. Without Specs, a version's own.
	Specs []domarkx.ResourceSpec
	// Tip is the newest version of the workspace, with its resources; nil for none.
	Tip *domarkx.Version
	// Private says, of an instance that is not here yet, that its resources must not
	// work on what others see.
	Private bool
	// Temporary makes an instance for this process alone, private, beside the one of
	// that name, and torn down by Close.
	Temporary bool
	// Existing fails with domarkx.ErrNotFound when the instance is not here yet.
	Existing bool
	// Folders opens only resources that are folders of this machine, starts no program and
	// contacts no server. The other resources count as they were committed last.
	Folders bool
	// NoWait fails with domarkx.ErrConflict while another process has the instance.
	NoWait bool
	// Keep keeps what is live where a load did not end, before another one goes over it:
	// somebody may have worked on there. It ends the changes as the caller of Commit does,
	// without Committed. nil keeps nothing.
	Keep func(ctx context.Context, c *Changes) error
	// Timeout of calls; 0 is that of Config.
	Timeout time.Duration
}

// Live is an instance that this process works with; others wait. Its methods may
// be called from several goroutines, and take turns.
type Live struct {
	m         *WorkspaceManager
	timeout   time.Duration
	keep      func(context.Context, *Changes) error
	temporary bool
	folders   bool                   // see Options.Folders
	asked     []domarkx.ResourceSpec // see Options.Specs
	forced    bool                   // resources are removed even where their plugins fail to

	mu        sync.Mutex
	lock      *lock
	dir       string
	state     state
	resources []*resource // as in state
	closed    bool
	broke     error // why the load that the state names did not end well, where this process knows
}

// A resource is one resource of an instance, open or not.
type resource struct {
	resourceType *resourceType
	live         domarkx.Resource // nil while it is not open
	err          error            // why it is not open
	busy         chan struct{}    // closed when the plugin's last code is done; nil before
}

// Open takes the lock of an instance, waiting while another process has it, and
// makes or takes up its resources.
func (m *WorkspaceManager) Open(ctx context.Context, name string, o Options) (*Live, error) {
	if !o.Folders {
		m.sweep(ctx)
	}
	l, err := m.acquire(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	if err := l.start(ctx, o); err != nil {
		l.abandon()
		return nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	return l, nil
}

// acquire locks an instance and reads its state, which is empty for a new one.
func (m *WorkspaceManager) acquire(ctx context.Context, name string, o Options) (*Live, error) {
	dir := filepath.Join(m.config.Dir, folderName(name))
	if o.Temporary {
		dir = filepath.Join(m.config.Dir, temporaryPrefix+random())
	}
	if o.Existing {
		if _, err := readState(dir); err != nil {
			return nil, err
		}
	}
	lock, err := lockFolder(ctx, dir, o.NoWait)
	if err != nil {
		return nil, err
	}
	st, err := readState(dir)
	if errors.Is(err, domarkx.ErrNotFound) && !o.Existing {
		st, err = state{Name: name, Private: o.Private || o.Temporary, Temporary: o.Temporary}, nil
	}
	if err != nil {
		lock.release()
		return nil, err
	}
	st.Name, st.Renaming = name, ""
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = m.config.Timeout
	}
	return &Live{m: m, timeout: timeout, temporary: o.Temporary, folders: o.Folders, asked: o.Specs, keep: o.Keep, lock: lock, dir: dir, state: st}, nil
}

// start brings the resources up.
func (l *Live) start(ctx context.Context, o Options) error {
	if err := l.finishRemovals(ctx); err != nil {
		return err
	}
	fresh := l.state.Head == "" && l.state.Loading == nil && !l.anyMade()
	switch {
	case fresh && o.Tip != nil:
		if err := l.Load(ctx, *o.Tip); err != nil {
			return err
		}
		return nil
	case fresh:
		if err := l.respecify(ctx, o.Specs); err != nil {
			return err
		}
	}
	if err := l.takeUp(ctx, o); err != nil {
		return err
	}
	if l.state.Loading != nil {
		if err := l.resume(ctx); err != nil {
			return err
		}
	}
	return l.adopt(o.Tip)
}

// anyMade reports whether any resource was made.
func (l *Live) anyMade() bool {
	return slices.ContainsFunc(l.state.Resources, func(e entry) bool { return e.Made })
}

// takeUp opens the resources of the state. One that does not open and that the
// document wants otherwise is left to Reconfigure, unless it was never made.
func (l *Live) takeUp(ctx context.Context, o Options) error {
	for i := 0; i < len(l.state.Resources); i++ {
		e := &l.state.Resources[i]
		if o.Folders && e.Path == "" {
			continue
		}
		err := l.open(ctx, i)
		if err == nil {
			if err := l.regain(ctx, i); err != nil {
				return err
			}
			continue
		}
		wanted := slices.ContainsFunc(o.Specs, func(s domarkx.ResourceSpec) bool { return sameSpec(s, e.ResourceSpec) })
		if ctx.Err() != nil || len(o.Specs) == 0 || wanted {
			return err
		}
		l.resources[i].err = err
		if !e.Made {
			if err := l.removeAt(ctx, i); err != nil {
				return err
			}
			i--
		}
	}
	return nil
}

// adopt takes a tip as the head when it is what the last commit of this instance
// gave, whose process was killed before it could say so.
func (l *Live) adopt(tip *domarkx.Version) error {
	if tip == nil || l.state.Head == tip.ID || l.state.Given == nil || !slices.Equal(versionsOf(tip.Resources), l.state.Given) {
		return nil
	}
	if l.state.Head != "" && !slices.Contains(tip.Parents, l.state.Head) {
		return nil
	}
	return l.committed(*tip)
}

// Head returns the id of the version that the live state derives from; "" when
// there is none yet.
func (l *Live) Head() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Head
}

// Warn tells the user something, once.
func (l *Live) Warn(message string) { l.m.warn(message) }

// Name returns the name of the workspace.
func (l *Live) Name() string { return l.state.Name }

// Specs returns the resources that are live, in the order of the document.
func (l *Live) Specs() []domarkx.ResourceSpec {
	l.mu.Lock()
	defer l.mu.Unlock()
	specs := make([]domarkx.ResourceSpec, len(l.state.Resources))
	for i, e := range l.state.Resources {
		specs[i] = e.ResourceSpec
	}
	return specs
}

// Paths returns the folders of this machine that resources are, by resource.
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

// Close stops what runs for the instance and lets others have it. A temporary one
// is torn down. It does not end early when ctx is done.
func (l *Live) Close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if l.temporary {
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

// abandon ends an instance that did not open.
func (l *Live) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	l.closed = true
	if l.temporary || !l.anyMade() && l.state.Head == "" {
		l.tearDown(ctx)
		return
	}
	l.closeResources(ctx)
	l.lock.release()
}
