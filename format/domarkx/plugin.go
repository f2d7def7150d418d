package domarkx

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A Plugin manages the resources of one type (architecture, section 4).
type Plugin interface {
	// Type is the name that a workspace-config uses, such as "docker_sandbox".
	Type() string
	// Describe returns the configuration keys and the tools. It leaves no process or
	// other resource behind.
	Describe(ctx context.Context) (Description, error)
	// Open creates a resource (create_resource) when env.Dir is empty. Otherwise it
	// opens the one that an earlier process left there, even if that was killed. The
	// manager has checked env.Config against the description.
	Open(ctx context.Context, env Env) (Resource, error)
}

// A Description lists the configuration and tools of a resource type.
type Description struct {
	Source    string          // where the plugin comes from: "built-in", or the path of a program
	Config    jsonvalue.Value // JSON Schema (2020-12) of the config, without "type" and "id"
	Tools     []Tool
	Languages []string // of the runnable blocks that its resources run (see [Runner])
	// CallTimeout is the timeout of calls for which the session sets none; 0 is the
	// manager's default.
	CallTimeout time.Duration
	// NotReplayed reports that calls depend on or change something that no version contains, such
	// as a server. A replay does not repeat them.
	NotReplayed bool
	// Dump reports that a version is a dump, which has to load as it is: a redaction does not edit its files.
	Dump bool
}

// A Tool is an operation of a resource.
type Tool struct {
	Name        string
	Description string          // for people and models
	Schema      jsonvalue.Value // JSON Schema (2020-12) of the arguments, an object
	// ReadOnly means that a call never changes anything, so that a user may approve all calls of such tools at once. Only
	// built-in types set it: the claims of a program or a server do not count.
	ReadOnly bool
}

// NewTool returns a tool with a schema for its arguments: an object that has only these properties. properties is the members
// of a JSON object, and required lists the names of those that must be given, as JSON strings.
func NewTool(name, description, properties, required string) Tool {
	return Tool{Name: name, Description: description, Schema: jsonvalue.MustParse(
		`{"type": "object", "properties": {` + properties + `}, "required": [` + required + `], "additionalProperties": false}`)}
}

// An Env is the environment of a resource on this machine: its directory and its limits.
type Env struct {
	Workspace string          // name of the workspace
	Resource  string          // id of the resource
	Config    jsonvalue.Value // the document's object without "type" and "id", with secrets in the place of ${NAME}; must not be stored
	Written   jsonvalue.Value // Config as in the document, with ${NAME}; may be stored and shown
	// Redact replaces the values of the environment variables in Config by ${NAME}. The manager
	// redacts errors and warnings itself; a plugin calls Redact before it stores or shortens other
	// text that may contain such a value. Nil stands for no such values.
	Redact func(text string) string
	// Dir is the resource's own directory, with mode 0700. It exists until the resource is torn
	// down.
	Dir string
	// Private forbids the resource to work on anything shared, such as a path of the
	// work tree. It is set for forks and replays.
	Private   bool
	WorkTree  string   // top of the user's work tree; "" in a bare repository
	Forbidden []string // directories that no resource may use or reach: Git's own, mounts of this program
	StateDir  string   // where this program keeps its own state, which no command may see; it may contain Dir
	Allow     Allow
	Limits    Limits
	Warn      func(message string) // shows a message to the user, once
}

// Limits bound what versions contain and what commands use, by the user's own configuration. 0 means unlimited.
type Limits struct {
	File      int64 // bytes of a file in a version
	Version   int64 // bytes of all files in a version of a resource
	Files     int64 // files and directories in it
	Processes int64 // of a command or container, with their threads
	Memory    int64 // bytes that a command or container uses
}

// Allow holds the permissions that the user's own configuration grants to resources,
// in addition to trusting a document.
type Allow struct {
	Network     bool     // containers may reach the network
	Mounts      []string // host directories that containers may mount, also for writing
	DSNs        []string // existing databases that resources may connect to
	URLs        []string // prefixes of the URLs of repositories that may be cloned
	Unsandboxed bool     // commands run without confinement
}

// An OutLister is a [Resource] that lists the files that its versions do not contain although nothing
// excludes them, as of the last Changed, Commit or CommitChange.
type OutLister interface{ LeftOut() []LeftOut }

// A Resource is an open resource. Its methods are called by one goroutine at a time.
type Resource interface {
	ToolProvider
	Versioned
	Closer
}

// A ToolProvider executes the tools of a resource.
type ToolProvider interface {
	// Execute runs a tool (execute_tool). The manager has checked the arguments against
	// the tool's schema. When ctx ends, Execute kills every process that the tool
	// started, with all descendants. If the tool itself refuses or fails, the error is
	// a [*ToolError].
	Execute(ctx context.Context, call Call) (Result, error)
}

// A ToolLister is a [Resource] with tools of its own, such as those of a server, in place of those
// of its [Description]. The user's trust covers their names, descriptions and schemas: the first
// call asks the user again if the tools differ from those that were trusted with this config.
type ToolLister interface {
	// Tools returns the same tools until the resource is closed. It may start a program or contact
	// a server. If the tools change meanwhile, Execute refuses calls with [CodeRefused].
	Tools(ctx context.Context) ([]Tool, error)
}

// Versioned commits and loads the state of a resource.
type Versioned interface {
	// Changed reports whether the resource may differ from the version last committed or
	// loaded (get_version). It is cheap, and returns true when in doubt.
	Changed(ctx context.Context) (bool, error)
	// Commit writes the current state to w (commit_version). If a file cannot be stored, it returns
	// an error that names the file.
	Commit(ctx context.Context, w VersionWriter) error
	// Load replaces the state by a version (load_version). If the process is killed
	// meanwhile, Changed returns true afterwards.
	Load(ctx context.Context, r VersionReader, version string) error
}

// A ChangeCommitter is a [Resource] that detects and commits changes in a single pass.
type ChangeCommitter interface {
	// CommitChange combines Changed and Commit. If the state changed, it calls begin
	// once and writes the current state to the returned writer, whose base is the
	// version last committed or loaded.
	CommitChange(ctx context.Context, begin func() (VersionWriter, error)) (changed bool, err error)
}

// A VersionChecker is a [Plugin] that validates versions. Versions may come from anybody
// and be written to directories that other programs use.
type VersionChecker interface {
	// CheckVersion returns [ErrCorrupt], with the reason, for a version that no resource of this
	// type can have committed.
	CheckVersion(ctx context.Context, r VersionReader, version string) error
}

// A LoadChecker is a [Resource] that can detect, before anything changes, that it cannot
// load a version.
type LoadChecker interface {
	// CheckLoad returns the error that Load would return, as far as it can be predicted, and
	// changes nothing. base is a version that the resource once had, or "".
	CheckLoad(ctx context.Context, r VersionReader, base, version string) error
}

// A LostStateReporter is a [Resource] whose state can be lost outside of this program,
// such as a container that somebody removes.
type LostStateReporter interface {
	// Lost returns nil, or why the state is lost or cannot be reached. A resource with a lost state
	// can only load a version; it can neither change nor commit. final reports that nothing more is
	// lost by loading the last committed version.
	Lost() (why error, final bool)
}

// Closer closes or removes a resource.
type Closer interface {
	// Close stops everything that runs for the resource and keeps its state.
	Close(ctx context.Context) error
	// TearDown stops the resource and removes it permanently. It does not remove what the resource
	// did not create, such as a path of the work tree.
	TearDown(ctx context.Context) error
}

// A Runner is a [Resource] that can run a block of code.
type Runner interface {
	// Run runs code in one of the languages of the plugin's [Description]. The result
	// is like that of the tool run_command.
	Run(ctx context.Context, language, code string) (Result, error)
}

// An ArgumentDefaulter is a [Resource] that completes the arguments of a call before the
// call is recorded, so that it can be replayed.
type ArgumentDefaulter interface {
	// Defaults returns the arguments with the defaults filled in.
	Defaults(ctx context.Context, tool string, arguments jsonvalue.Value) (jsonvalue.Value, error)
}

// A HostPath is a [Resource] whose content is a directory on this machine.
type HostPath interface {
	Path() string // absolute
}

// A Call is a call of a tool.
type Call struct {
	Tool      string
	Arguments jsonvalue.Value // an object
}

// A Result is the answer of a tool.
type Result struct {
	Value jsonvalue.Value
	// Attachment, if not nil, is the complete output, whose beginning is in Value.
	// The receiver of the result closes it.
	Attachment io.ReadCloser
}

// The codes of a [ToolError].
const (
	CodeInvalid     = "invalid"      // an argument or the request is invalid
	CodeNotFound    = "not_found"    // what the call refers to does not exist
	CodeRefused     = "refused"      // not allowed: outside the resource, or by configuration
	CodeFailed      = "failed"       // the tool failed
	CodeTimeout     = "timeout"      // the tool did not answer in time
	CodeInterrupted = "interrupted"  // the program was killed during the call
	CodeUnknownTool = "unknown_tool" // the resource has no such tool
	CodeNoResource  = "no_resource"  // the workspace has no such resource
	CodeBroken      = "broken"       // the plugin crashed or violated the protocol
)

// A ToolError is the reason why a call failed: the "error" of a tool-result block.
type ToolError struct {
	Code    string
	Message string
}

// NewToolError returns a ToolError with a formatted message.
func NewToolError(code, format string, args ...any) *ToolError {
	return &ToolError{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *ToolError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }
