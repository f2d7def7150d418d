package localshell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/directory"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/process"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// Plugin is the plugin.
type Plugin struct {
	runner     *process.Runner
	canConfine func() bool
	maxOutput  int64 // bytes of output; a command that writes more is killed
}

// New returns the plugin. The program's main must call [process.Supervise] first.
func New() Plugin { return Plugin{process.NewRunner(true), process.CanConfine, maxOutput} }

// Type returns "local_shell".
func (Plugin) Type() string { return "local_shell" }

// languages maps languages of blocks to interpreters and their option for code.
var languages = []struct{ name, program, option string }{
	{"bash", "bash", "-c"}, {"sh", "sh", "-c"}, {"shell", "sh", "-c"},
	{"python", "python3", "-c"}, {"python3", "python3", "-c"},
	{"node", "node", "-e"}, {"javascript", "node", "-e"}, {"js", "node", "-e"},
	{"perl", "perl", "-e"}, {"ruby", "ruby", "-e"},
}

// Describe returns the config, the tools, and the languages whose interpreters are
// installed.
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	config := jsonvalue.MustParse(`{"type": "object", "properties": {` + directory.Properties + `,
"env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "environment variables of commands"}}, "additionalProperties": false}`)
	run := domarkx.NewTool("run_command", "Runs a command in the directory and returns its exit code and output.",
		`"command": {"type": "string", "description": "for the shell (bash, where it is installed)"},
"timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds"}`, `"command"`)
	d := domarkx.Description{Source: "built-in", Config: config, Tools: append(directory.Tools(), run)}
	for _, l := range languages {
		if _, err := exec.LookPath(l.program); err == nil {
			d.Languages = append(d.Languages, l.name)
		}
	}
	return d, nil
}

// Open opens the directory of a resource.
func (p Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	f, err := directory.Open(env)
	if err != nil {
		return nil, err
	}
	return newShell(f, env, p, p.Type()), nil
}

func newShell(f *directory.Resource, env domarkx.Env, p Plugin, typ string) *shell {
	s := &shell{Resource: f, env: env, plugin: p, typ: typ, confined: !env.Allow.Unsandboxed}
	if s.confined && !p.canConfine() {
		s.confined = false
		if env.Warn != nil {
			env.Warn("commands of " + typ + " are not confined to their directory: this kernel has no Landlock")
		}
	}
	s.sweep()
	return s
}

// A shell is a directory in which commands run.
type shell struct {
	*directory.Resource
	env      domarkx.Env
	plugin   Plugin
	typ      string // of the resource, for messages
	confined bool
}

var _ domarkx.ChangeCommitter = (*shell)(nil)

// CommitChange commits the directory if it changed. See [domarkx.ChangeCommitter].
func (s *shell) CommitChange(ctx context.Context, begin func() (domarkx.VersionWriter, error)) (bool, error) {
	return s.CommitIncrement(ctx, begin)
}

func (s *shell) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if call.Tool != "run_command" {
		return s.Resource.Execute(ctx, call)
	}
	if own, ok := plugins.OwnTimeout(call.Arguments); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, own)
		defer cancel()
	}
	command, _ := call.Arguments.Get("command")
	language := "bash"
	if _, err := exec.LookPath("bash"); err != nil {
		language = "sh"
	}
	return s.Run(ctx, language, command.Text())
}

func (s *shell) Run(ctx context.Context, language, code string) (domarkx.Result, error) {
	if strings.ContainsRune(code, 0) {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "the command contains a NUL byte, which no argument can hold")
	}
	for _, l := range languages {
		if l.name != language {
			continue
		}
		program, err := exec.LookPath(l.program)
		if err != nil {
			return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeNotFound, "%q needs the program %q, which is not on PATH; install it", language, l.program)
		}
		if program, err = filepath.Abs(program); err != nil {
			return domarkx.Result{}, err
		}
		return s.run(ctx, program, l.option, code)
	}
	return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "blocks in %q cannot be run", language)
}

// maxArgument bounds the code that is passed as an argument, in bytes; the kernel limits
// an argument to 128 KiB (execve(2)). Longer code is passed in a file.
const maxArgument = 100 << 10

// run runs an interpreter on code, with a temporary directory that is removed afterwards.
func (s *shell) run(ctx context.Context, program, option, code string) (domarkx.Result, error) {
	temporary, err := s.temporary()
	if err != nil {
		return domarkx.Result{}, err
	}
	defer s.forget(temporary)
	c := s.command(temporary)
	c.Program, c.Args, c.Dir = program, []string{program, option, code}, s.Path()
	if len(code) > maxArgument {
		file := filepath.Join(temporary, "code")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			return domarkx.Result{}, err
		}
		c.Args = []string{program, file}
	}
	spool := toolresult.NewSpool(s.env.Dir)
	defer spool.Close()
	status, err := s.plugin.runner.Run(ctx, c, &limiter{spool, s.plugin.maxOutput})
	s.warnUnsealed(c)
	over := errors.Is(err, errOutput)
	if over {
		status.ExitCode, err = -1, nil
	}
	if err != nil {
		return domarkx.Result{}, err
	}
	r, err := spool.Result(status)
	if err == nil && over {
		r.Value = r.Value.With("output_limit_exceeded", jsonvalue.BoolValue(true))
	}
	return r, err
}

// command returns a command without its program, with this temporary directory.
func (s *shell) command(temporary string) process.Command {
	c := process.Command{Env: s.environment(temporary), Writable: []string{s.Path(), temporary}, Hidden: []string{s.env.StateDir},
		Confined: s.confined, Sockets: nameServices, Processes: s.env.Limits.Processes, Memory: s.env.Limits.Memory}
	if s.confined {
		c.Sealed = slices.DeleteFunc(slices.Clone(s.Hidden()), func(path string) bool { return !s.holds(path) })
	}
	return c
}

// warnUnsealed warns if a command that was started can write what should be sealed.
func (s *shell) warnUnsealed(c process.Command) {
	if len(c.Sealed) > 0 && !s.plugin.runner.HasNamespaces() && s.env.Warn != nil {
		s.env.Warn(fmt.Sprintf("commands of %s can write the repository's Git directory in %q: this system gives this user no namespaces", s.typ, s.Path()))
	}
}

// temporary creates a temporary directory for a command, with its HOME and TMPDIR. The
// caller must call forget.
func (s *shell) temporary() (string, error) {
	parent, err := filepath.Abs(os.TempDir()) // TMPDIR may be relative to this program's directory
	if err != nil {
		return "", err
	}
	temporary, err := os.MkdirTemp(parent, "domarkx-")
	if err != nil {
		return "", err
	}
	err = os.WriteFile(s.temporaries(), []byte(temporary+"\n"), 0o600)
	for _, name := range []string{"home", "tmp"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(temporary, name), 0o700)
		}
	}
	if err != nil {
		s.forget(temporary)
	}
	return temporary, err
}

// holds reports whether a path exists in the directory.
func (s *shell) holds(path string) bool {
	_, err := os.Lstat(path)
	at, rerr := filepath.Rel(s.Path(), path)
	return err == nil && rerr == nil && filepath.IsLocal(at)
}

// systemVariables are the environment variables that a command gets unchanged. Programs on Windows need some to start.
var systemVariables = []string{"USER", "LOGNAME", "SystemRoot", "windir", "ComSpec", "PATHEXT", "SystemDrive"}

func (s *shell) environment(temporary string) []string {
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	env := []string{
		"PATH=" + path, "HOME=" + filepath.Join(temporary, "home"), "TMPDIR=" + filepath.Join(temporary, "tmp"),
		"LANG=C.UTF-8", "SHELL=/bin/sh", "TERM=dumb", "PWD=" + s.Path(), "PYTHONPATH=" + s.Path(),
	}
	if s.IsPrivate() { // it may lie below the user's .git, which Git would take as the repository
		env = append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(s.Path()))
	}
	for _, name := range systemVariables {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	own, _ := s.env.Config.Get("env")
	for _, m := range own.Members() {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, m.Name+"=") })
		env = append(env, m.Name+"="+m.Value.Text())
	}
	return env
}

// temporaries returns the path of the file that records the temporary directory, so that
// sweep can remove it after this program was killed.
func (s *shell) temporaries() string { return filepath.Join(s.env.Dir, "temporary") }

func (s *shell) forget(path string) {
	if dirversion.Empty(path) == nil && os.Remove(path) == nil {
		os.Remove(s.temporaries()) // fails harmlessly if it does not exist
	}
}

// sweep removes the temporary directory that a killed process left.
func (s *shell) sweep() {
	data, err := os.ReadFile(s.temporaries())
	if err != nil {
		return
	}
	path := strings.TrimSuffix(string(data), "\n")
	if filepath.IsAbs(path) && strings.HasPrefix(filepath.Base(path), "domarkx-") {
		s.forget(path)
	}
}

// TearDown closes the resource and removes its own files.
func (s *shell) TearDown(ctx context.Context) error {
	s.sweep()
	return s.Resource.TearDown(ctx)
}

// maxOutput bounds the output of a command, in bytes.
const maxOutput = 1 << 30

// errOutput reports that a command wrote more than a limiter takes.
var errOutput = errors.New("too much output")

// A limiter writes output up to a limit.
type limiter struct {
	w    *toolresult.Spool
	left int64
}

func (l *limiter) Write(p []byte) (int, error) {
	n, err := l.w.Write(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err == nil && n < len(p) {
		err = errOutput
	}
	return n, err
}
