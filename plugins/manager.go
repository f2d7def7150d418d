package plugins

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx"
)

// DefaultTimeout is how long a call may take unless something else is said.
const DefaultTimeout = 60 * time.Second

// Versions is the store of what resources hold.
type Versions interface {
	domarkx.VersionReader
	// Begin starts a version of a resource. base is an earlier one, "" for none: what
	// it holds is known to be stored.
	Begin(ctx context.Context, base string) (Pending, error)
	// CheckVersion reports, as domarkx.ErrCorrupt, a version of a resource that no reader
	// gets through. Of base, another version or "" for none, it is known already.
	CheckVersion(ctx context.Context, base, version string) error
}

// Pending is a version of a resource that is being written.
type Pending interface {
	domarkx.VersionWriter
	Ending
}

// Ending ends the writing of a version.
type Ending interface {
	// Finish makes the version durable and returns its id. No ref holds it yet.
	Finish(ctx context.Context) (version string, err error)
	// Settle is called after a ref holds the version.
	Settle() error
	// Abort gives up; harmless after Settle.
	Abort()
}

// Config is where instances live and what they may do.
type Config struct {
	Dir      string // of all instances; made when needed
	WorkTree string // top of the user's work tree, "" in a bare repository
	// WorkTrees returns all work trees of the repository: a resource works where it was
	// made, also when that is another one; nil when there are no others.
	WorkTrees func() ([]string, error)
	Limits    func() (Limits, error) // asked when a resource is opened; nil has none
	// Boot is another text after each start of the machine; "" where unknown.
	Boot    string
	Env     func(name string) (string, bool) // secrets; nil has none
	Warn    func(message string)             // tells the user something; nil tells nothing
	Timeout time.Duration                    // of a call; 0 is DefaultTimeout
	Grace   time.Duration                    // that a plugin gets to end when it should; 0 is 10 s
}

// Limits are what resources may do and reach.
type Limits struct {
	Forbidden []string      // folders that no resource may be or reach
	Allow     domarkx.Allow // what the user's own configuration allows
}

// A WorkspaceManager manages the workspaces that are live on this machine. Its
// methods may be called from several goroutines, and from several processes on
// the same folder at once.
type WorkspaceManager struct {
	config   Config
	versions Versions
	types    []*resourceType
	warned   sync.Map
}

// New returns the manager of the instances in config.Dir, whose resources are of those
// types.
func New(types []domarkx.Plugin, versions Versions, config Config) *WorkspaceManager {
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Grace <= 0 {
		config.Grace = 10 * time.Second
	}
	if config.Limits == nil {
		config.Limits = func() (Limits, error) { return Limits{}, nil }
	}
	if config.Env == nil {
		config.Env = func(string) (string, bool) { return "", false }
	}
	m := &WorkspaceManager{config: config, versions: versions}
	for _, p := range types {
		m.types = append(m.types, &resourceType{plugin: p, grace: config.Grace})
	}
	return m
}

// A Type is a type of resource.
type Type struct {
	Name string
	domarkx.Description
	Err error // why the plugin did not describe itself
}

// Types returns the types of resources, sorted by name.
func (m *WorkspaceManager) Types(ctx context.Context) ([]Type, error) {
	types := make([]Type, 0, len(m.types))
	for _, k := range m.types {
		t := Type{Name: k.plugin.Type()}
		if t.Err = k.describe(ctx); t.Err == nil {
			t.Description = k.description
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	return types, nil
}

// resourceType returns a type by its name.
func (m *WorkspaceManager) resourceType(ctx context.Context, name string) (*resourceType, error) {
	for _, k := range m.types {
		if k.plugin.Type() == name {
			return k, k.describe(ctx)
		}
	}
	known := make([]string, len(m.types))
	for i, k := range m.types {
		known[i] = k.plugin.Type()
	}
	slices.Sort(known)
	return nil, &unknownType{name, known}
}

// An unknownType says that no plugin has a type.
type unknownType struct {
	name  string
	known []string
}

func (e *unknownType) Error() string {
	return fmt.Sprintf("no plugin has the resource type %q, expected one of %s; an executable git-domarkx-plugin-%s on PATH would add it",
		e.name, strings.Join(e.known, ", "), e.name)
}

func (e *unknownType) Unwrap() error { return domarkx.ErrNotFound }

// warn tells the user something once.
func (m *WorkspaceManager) warn(message string) {
	if _, told := m.warned.LoadOrStore(message, true); !told && m.config.Warn != nil {
		m.config.Warn(message)
	}
}
