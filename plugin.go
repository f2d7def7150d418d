package domarkx

import (
	"context"
	"fmt"
	"io"
)

// A Plugin manages the resources of one type (architecture, section 4).
type Plugin interface {
	// Type is the name that a workspace-config uses, such as "docker_sandbox".
	Type() string
	// Describe says what can be configured and called. It starts nothing that
	// outlasts it.
	Describe(ctx context.Context) (Description, error)
	// Open makes a resource (create_resource) when site.Dir is empty, or takes up
	// the one that an earlier process left there, also one that was killed. The
	// manager has checked site.Config against the description.
	Open(ctx context.Context, site Site) (Resource, error)
}

// A Description is what a type of resource offers.
type Description struct {
	Source    string // where the plugin is from: "built-in", or the path of a program
	Config    Value  // JSON Schema (2020-12) of the config, without "type" and "id"
	Tools     []Tool
	Languages []string // of the runnable blocks that its resources run (see [Runner])
}

// A Tool is something that a resource can do.
type Tool struct {
	Name        string
	Description string // for people and models
	Schema      Value  // JSON Schema (2020-12) of the arguments, an object
}

// A Site is where a resource lives on this machine, and what it may do there.
type Site struct {
	Workspace string // name of the workspace
	Resource  string // id of the resource
	Config    Value  // the document's object without "type" and "id", ${NAME} replaced by secrets: not to be stored
	Written   Value  // Config as the document has it, with ${NAME}: what may be stored and shown
	// Dir is a folder for this resource alone, mode 0700, that is there. It stays
	// until the resource is torn down.
	Dir string
	// Private says that the resource must not work on anything that others see too,
	// such as a path of the work tree: it is that of a fork or a replay.
	Private bool
	// Known says that a version was made with this config: what is refused of a new
	// one is only warned of.
	Known     bool
	WorkTree  string   // top of the user's work tree; "" in a bare repository
	Forbidden []string // folders that no resource may be or reach: Git's own, mounts of this program
	Allow     Allow
	Warn      func(message string) // tells the user something, once
}

// Allow is what the user's own configuration lets resources do, beyond trust in
// a document.
type Allow struct {
	Network     bool     // containers may reach the network
	Mounts      []string // host folders that containers may see; writable when they ask
	DSNs        []string // databases that are not this program's own
	URLs        []string // repositories that may be cloned, as prefixes
	Unsandboxed bool     // commands run without confinement
}

// A Resource is one resource that is live. Its methods are called by one
// goroutine at a time.
type Resource interface {
	ToolProvider
	Versioned
	Living
}

// A ToolProvider is what calls a resource's tools.
type ToolProvider interface {
	// Execute runs a tool (execute_tool). The manager has checked the arguments
	// against the tool's schema. When ctx ends, what the tool started is killed, with
	// all its descendants. What the tool itself refuses or fails at is a [*ToolError].
	Execute(ctx context.Context, call Call) (Result, error)
}

// Versioned is the state of a resource.
type Versioned interface {
	// Changed reports whether the resource may differ from what was last committed or
	// loaded (get_version). It is cheap, and true when in doubt.
	Changed(ctx context.Context) (bool, error)
	// Commit gives the present state to w (commit_version). A file that cannot be kept
	// is an error that names it.
	Commit(ctx context.Context, w VersionWriter) error
	// Load makes the state that of a version (load_version). A kill in between leaves
	// a resource whose Changed is true.
	Load(ctx context.Context, r VersionReader, version string) error
}

// A ChangeCommitter is a [Resource] that looks for a change and commits it in one go.
type ChangeCommitter interface {
	// CommitChange is Changed and Commit in one. When there is a change it calls begin,
	// once, and gives the present state to that writer, which is based on what was last
	// committed or loaded.
	CommitChange(ctx context.Context, begin func() (VersionWriter, error)) (changed bool, err error)
}

// A VersionChecker is a [Plugin] that tells what is none of its versions: they may have
// come from anybody, and be written to folders for other programs.
type VersionChecker interface {
	// CheckVersion names, as [ErrCorrupt], what a version of a resource of this type
	// never holds.
	CheckVersion(ctx context.Context, r VersionReader, version string) error
}

// A LoadChecker is a [Resource] that can tell, before anything is changed, that it could
// not become what a version holds.
type LoadChecker interface {
	// CheckLoad returns what would keep Load from ending well, as far as that can be
	// known, and changes nothing. base is a version that the resource was once, or "".
	CheckLoad(ctx context.Context, r VersionReader, base, version string) error
}

// A Loser is a [Resource] whose state others can take away, as a container that somebody
// removes.
type Loser interface {
	// Lost returns why the state is gone, or not to be reached, nil while it is there: then
	// it can neither be changed nor committed, only loaded. final reports that loading
	// what was committed last loses nothing more.
	Lost() (why error, final bool)
}

// Living ends the life of a resource.
type Living interface {
	// Close stops all that runs for the resource, and keeps its state.
	Close(ctx context.Context) error
	// TearDown stops it and removes it for good; not what it had from elsewhere, such
	// as a path of the work tree.
	TearDown(ctx context.Context) error
}

// A Runner is a [Resource] that can run a block of code.
type Runner interface {
	// Run runs code in a language of the plugin's [Description]. Its result is like
	// that of the tool run_command.
	Run(ctx context.Context, language, code string) (Result, error)
}

// A Defaulter is a [Resource] that completes the arguments of a call before it is
// recorded, so that it can be replayed.
type Defaulter interface {
	Defaults(ctx context.Context, tool string, arguments Value) (Value, error)
}

// A Pather is a [Resource] that is a folder of this machine.
type Pather interface {
	Path() string // absolute
}

// A Call is a call of a tool.
type Call struct {
	Tool      string
	Arguments Value // an object
}

// A Result is what a tool returned.
type Result struct {
	Value Value
	// Attachment, unless nil, is the whole of an output of which Value holds the
	// beginning. Who takes the result closes it.
	Attachment io.ReadCloser
}

// The codes of a [ToolError].
const (
	CodeInvalid     = "invalid"      // an argument, or what was asked for, makes no sense
	CodeNotFound    = "not_found"    // what the call names is not there
	CodeRefused     = "refused"      // not allowed: outside the resource, or by configuration
	CodeFailed      = "failed"       // the tool could not do it
	CodeTimeout     = "timeout"      // the tool did not answer in time
	CodeInterrupted = "interrupted"  // the program was killed during the call
	CodeUnknownTool = "unknown_tool" // the resource has no such tool
	CodeNoResource  = "no_resource"  // the workspace has no such resource
	CodeBroken      = "broken"       // the plugin broke: it crashed, or did not keep to the protocol
)

// A ToolError says why a call did not do what it should: the "error" of a
// tool-result block.
type ToolError struct {
	Code    string
	Message string
}

func (e *ToolError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }
