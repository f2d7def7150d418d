package plugins

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// DefaultTimeout is the default timeout of a call.
const DefaultTimeout = 60 * time.Second

// Versions stores the versions of resources.
type Versions interface {
	domarkx.VersionReader
	// Begin starts a version of a resource. base is an earlier version, whose contents are
	// stored already; "" for none.
	Begin(ctx context.Context, base string) (Pending, error)
	// CheckVersion returns domarkx.ErrCorrupt for a version of a resource that cannot be
	// read completely. base, another version or "", was checked before.
	CheckVersion(ctx context.Context, base, version string) error
}

// Pending is a version of a resource that is being written.
type Pending interface {
	domarkx.VersionWriter
	// Finish makes the version durable and returns its id. No ref points to it yet.
	Finish(ctx context.Context) (version string, err error)
	// Settle must be called after a ref points to the version.
	Settle() error
	// Abort discards the version. It does nothing after Settle.
	Abort()
}

// A BoundedWriter is a [Pending] for resources that leave nothing out themselves, and so have to fit.
type BoundedWriter interface {
	// Limit makes the writer refuse more files or bytes. The texts say in errors that there are more.
	Limit(files, bytes int64, manyFiles, manyBytes string)
}

// Config configures a WorkspaceManager.
type Config struct {
	Dir      string // directory of all instances; created when needed
	StateDir string // where this program keeps its own state, which commands must not see; may be ""
	WorkTree string // top of the user's work tree, "" in a bare repository
	// WorkTrees returns all work trees of the repository, since a resource stays in the one
	// in which it was created; nil for no others.
	WorkTrees func() ([]string, error)
	Limits    func() (Limits, error) // called when a resource is opened; nil for no limits
	// Boot identifies the current start of the machine; "" if unknown.
	Boot string
	// Types returns more types of resources, unless a built-in one has the name. It is called when
	// types are first needed; nil for none.
	Types   func() []domarkx.Plugin
	Env     func(name string) (string, bool) // looks up secrets; nil for none
	Warn    func(message string)             // shows a message to the user; may be nil
	Timeout time.Duration                    // of a call; 0 is DefaultTimeout
	Grace   time.Duration                    // time that a plugin has to stop after its context ended; 0 is 10 s
}

// Limits restrict what resources may do and reach.
type Limits struct {
	Forbidden []string      // directories that no resource may use or reach
	Allow     domarkx.Allow // permissions from the user's own configuration
	Bounds    domarkx.Limits
}

// A WorkspaceManager manages the workspaces that are instantiated on this machine. It is safe
// for concurrent use by several goroutines, and by several processes on the same directory.
type WorkspaceManager struct {
	config   Config
	versions Versions
	types    func() []*resourceType // built-in ones first; see [Config.Types]
	warned   sync.Map
}

// New returns a manager of the instances in config.Dir, with those resource types.
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
	m.types = sync.OnceValue(func() []*resourceType {
		var all []*resourceType
		add := func(plugins []domarkx.Plugin) {
			for _, p := range plugins {
				if !slices.ContainsFunc(all, func(k *resourceType) bool { return k.plugin.Type() == p.Type() }) {
					all = append(all, &resourceType{plugin: p, grace: config.Grace})
				}
			}
		}
		add(types)
		if config.Types != nil {
			add(config.Types())
		}
		return all
	})
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
	all := m.types()
	types := make([]Type, 0, len(all))
	for _, k := range all {
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

// IsDump reports whether the versions of resources of a type are dumps; see [domarkx.Description]. Those of a type that is
// unknown here are not.
func (m *WorkspaceManager) IsDump(ctx context.Context, typeName string) bool {
	k, err := m.resourceType(ctx, typeName)
	return err == nil && k.description.Dump
}

func (m *WorkspaceManager) resourceType(ctx context.Context, name string) (*resourceType, error) {
	all := m.types()
	for _, k := range all {
		if k.plugin.Type() == name {
			return k, k.describe(ctx)
		}
	}
	known := make([]string, len(all))
	for i, k := range all {
		known[i] = k.plugin.Type()
	}
	slices.Sort(known)
	return nil, &unknownType{name, known}
}

// An unknownType reports that no plugin has a resource type.
type unknownType struct {
	name  string
	known []string
}

func (e *unknownType) Error() string {
	return fmt.Sprintf("no plugin for the resource type %q is installed here, expected one of %s; install the program git-domarkx-plugin-%s on PATH to add it",
		e.name, strings.Join(e.known, ", "), e.name)
}

func (e *unknownType) Unwrap() error { return domarkx.ErrNotFound }

// warn shows a message to the user, once.
func (m *WorkspaceManager) warn(message string) {
	if _, told := m.warned.LoadOrStore(message, true); !told && m.config.Warn != nil {
		m.config.Warn(message)
	}
}

// removeAll removes a directory with its content, even where the modes of directories forbid
// it.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
