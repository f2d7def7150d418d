package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/domarkx/domarkx/plugins/toolresult"
	"github.com/moby/moby/client"
)

// A resource is one container.
type resource struct {
	env     domarkx.Env
	config  config
	engine  *engine
	image   image // of the container
	state   state
	gone    error // why the container cannot be used, nil when it can
	lost    error // gone with what to do: only Load and TearDown can be done with it
	final   bool  // whether nothing is lost by loading what was last committed or loaded
	session *session
	serving bool      // whether the configured command was begun in the session
	base    *baseline // nil until it is needed
}

// make creates the first container.
func (r *resource) make(ctx context.Context) error {
	id, stamp, err := r.create(ctx, r.image)
	if err != nil {
		return err
	}
	return r.adopt(ctx, r.image, id, stamp, false)
}

func (r *resource) create(ctx context.Context, i image) (id, stamp string, err error) {
	if stamp, err = r.engine.agent.stamp(); err != nil {
		return "", "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", "", err
	}
	id, err = r.engine.create(ctx, i, r.config, map[string]string{
		labelInstance: r.state.Instance, labelDir: r.env.Dir, labelHost: host,
		labelWorkspace: r.env.Workspace, labelResource: r.env.Resource,
	})
	return id, stamp, err
}

// adopt makes a container the resource's; all about it is on disk.
func (r *resource) adopt(ctx context.Context, i image, id, stamp string, dirty bool) error {
	r.image = i
	r.state.Container, r.state.Agent, r.state.Image, r.state.ImageID = id, stamp, r.config.image, i.ID
	r.state.Network, r.state.Memory, r.state.CPUs, r.state.Mounts = r.config.network, r.config.memory, r.config.cpus, r.config.mounts
	r.state.Dirty = dirty
	r.state.Engine = ""
	if info, err := r.engine.Info(ctx, client.InfoOptions{}); err == nil { // it only tells engines apart
		r.state.Engine = info.Info.ID
	}
	r.gone, r.lost, r.final = nil, nil, false
	return r.state.write(r.env.Dir)
}

// start starts the container when it does not run, and learns what its files are
// when nothing has run in it yet.
func (r *resource) start(ctx context.Context) error {
	if r.lost != nil {
		return r.lost
	}
	if r.session != nil {
		return nil
	}
	stamp, err := r.engine.agent.stamp()
	if err != nil {
		return err
	}
	if stamp != r.state.Agent && sameEntry(stamp, r.state.Agent) {
		if err := r.renewAgent(ctx, stamp); err != nil {
			return err
		}
	}
	if r.session, err = r.engine.start(ctx, r.state.Container, r.image.Volumes); err != nil {
		// A command may have removed the agent.
		if !sameEntry(stamp, r.state.Agent) {
			return err
		}
		if r.renewAgent(ctx, stamp) != nil {
			return err // of which the other only repeats that the engine or the container is gone
		}
		if r.session, err = r.engine.start(ctx, r.state.Container, r.image.Volumes); err != nil {
			return err
		}
	}
	r.serving = false
	if r.base != nil {
		return nil
	}
	if err := r.learnBase(ctx); err != nil {
		return errors.Join(err, r.stop(ctx))
	}
	return nil
}

// learnBase reads what the container's files were, or lists them when nothing has
// run in it yet.
func (r *resource) learnBase(ctx context.Context) (err error) {
	path := baseFile(r.env.Dir, r.state.Container)
	if r.base, err = readBaseline(path); err != nil || r.base != nil {
		return err
	}
	entries, err := r.scan(ctx, r.session)
	if err != nil {
		return err
	}
	b := newBaseline(entries)
	if err := b.write(path); err != nil {
		return err
	}
	r.base = b
	return nil
}

// sameEntry reports whether a container that was made for one agent starts another:
// its command cannot be changed. The agent that it has goes on then.
func sameEntry(a, b string) bool {
	return strings.HasPrefix(a, agentLoader) == strings.HasPrefix(b, agentLoader)
}

func (r *resource) renewAgent(ctx context.Context, stamp string) error {
	if err := r.engine.sendAgent(ctx, r.state.Container); err != nil {
		return err
	}
	r.state.Agent = stamp
	return r.state.write(r.env.Dir)
}

// maxListing bounds the memory that a container can make this program use: some
// ten million files.
const maxListing = 4 << 30

// scan lists the files of a container that count.
func (r *resource) scan(ctx context.Context, s *session) ([]agent.Entry, error) {
	var entries []agent.Entry
	size := 0
	err := s.guard(ctx, func() error {
		return s.Scan(func(e agent.Entry) error {
			if e.Path == ".dockerenv" {
				return nil
			}
			if e.Path != "" && !isPath(e.Path) {
				return fmt.Errorf("the agent named a file %q: %w", e.Path, domarkx.ErrInvalid)
			}
			for _, x := range e.Xattrs {
				size += len(x.Name) + len(x.Value)
			}
			if size += len(e.Path) + len(e.Target) + 256; size > maxListing {
				return fmt.Errorf("the list of files is longer than %d MB: %w", maxListing>>20, domarkx.ErrInvalid)
			}
			entries = append(entries, e)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of container %.12s: %w", s.id, err)
	}
	return entries, nil
}

// stop ends the container with all that runs in it.
func (r *resource) stop(ctx context.Context) error {
	if r.session == nil {
		return nil
	}
	s := r.session
	r.session = nil
	return s.end(ctx)
}

// Execute runs run_command.
func (r *resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if call.Tool != "run_command" {
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeUnknownTool, Message: fmt.Sprintf("docker_sandbox has no tool %q, only run_command", call.Tool)}
	}
	command, ok := call.Arguments.Get("command")
	if !ok || command.Kind() != domarkx.String {
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: "run_command needs a command, a string"}
	}
	if timeout, ok := call.Arguments.Get("timeout"); ok {
		seconds, err := strconv.ParseFloat(timeout.Text(), 64)
		if err != nil || seconds <= 0 {
			return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: fmt.Sprintf("timeout %s is no positive number of seconds", timeout.JSON())}
		}
		if seconds < 1e9 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
			defer cancel()
		}
	}
	return r.run(ctx, []string{"sh"}, command.Text())
}

// Run runs a block of code with the container's own interpreter.
func (r *resource) Run(ctx context.Context, language, code string) (domarkx.Result, error) {
	programs, ok := languages[language]
	if !ok {
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: fmt.Sprintf("docker_sandbox does not run %q", language)}
	}
	return r.run(ctx, programs, code)
}

// maxCode is what Linux takes as one argument (MAX_ARG_STRLEN), with its NUL.
const maxCode = 1<<17 - 1

// run runs code with the first of programs that the container has.
func (r *resource) run(ctx context.Context, programs []string, code string) (domarkx.Result, error) {
	if len(code) > maxCode {
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: fmt.Sprintf("a command of %d bytes; Linux takes %d", len(code), maxCode)}
	}
	if i := slices.Index([]byte(code), 0); i >= 0 {
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: fmt.Sprintf("a command with a NUL byte, at %d", i)}
	}
	if err := r.start(ctx); err != nil {
		return domarkx.Result{}, err
	}
	if !r.state.Dirty {
		r.state.Dirty = true
		if err := r.state.write(r.env.Dir); err != nil {
			return domarkx.Result{}, err
		}
	}
	if err := r.serve(ctx); err != nil {
		return domarkx.Result{}, err
	}
	spool := toolresult.NewSpool(r.env.Dir)
	for _, program := range programs {
		exit, err := r.command(ctx, []string{program, "-c", code}, spool)
		switch {
		case errors.Is(err, agent.ErrNoProgram):
			continue
		case errors.Is(err, context.DeadlineExceeded):
			return spool.Result(toolresult.Status{TimedOut: true})
		case err != nil:
			return domarkx.Result{}, errors.Join(err, spool.Close())
		}
		return spool.Result(toolresult.Status{ExitCode: exit})
	}
	return domarkx.Result{}, errors.Join(spool.Close(), &domarkx.ToolError{Code: domarkx.CodeNotFound,
		Message: fmt.Sprintf("the container of image %q has no %s", r.state.Image, programs[0])})
}

// killTimeout is what the processes of a command get to be gone once they are
// killed; then the container is.
const killTimeout = 5 * time.Second

// command runs a program. Where that breaks the connection the container ends, and
// is started again by the next call.
func (r *resource) command(ctx context.Context, args []string, spool *toolresult.Spool) (int, error) {
	s := r.session
	over := make(chan struct{})
	defer close(over)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-over:
		case <-time.After(killTimeout):
			s.attach.Close()
		}
	})
	defer stop()
	exit, err := s.Run(ctx, agent.Command{Args: args, Env: r.environment(), Dir: r.image.Dir, User: r.image.User}, spool)
	var refused *agent.RequestError
	switch {
	case err == nil || errors.Is(err, agent.ErrNoProgram) || errors.As(err, &refused) || errors.Is(err, ctx.Err()) && ctx.Err() != nil:
		return exit, err
	case ctx.Err() != nil:
		return 0, errors.Join(ctx.Err(), r.stop(ctx))
	}
	message := fmt.Sprintf("the container ended during the command: %v", err)
	if said := s.stderr.String(); said != "" {
		message += "; the agent said: " + said
	}
	if r.outOfMemory(ctx) {
		message += "; it ran out of memory, which the config's memory limits"
	}
	return 0, errors.Join(&domarkx.ToolError{Code: domarkx.CodeFailed, Message: message}, r.stop(ctx))
}

// outOfMemory reports whether the engine says that of the container.
func (r *resource) outOfMemory(ctx context.Context) bool {
	found, err := r.engine.ContainerInspect(ctx, r.state.Container, client.ContainerInspectOptions{})
	return err == nil && found.Container.State != nil && found.Container.State.OOMKilled && !found.Container.State.Running
}

func (r *resource) environment() []string { return slices.Concat(r.image.Env, r.config.env) }

// serve begins the configured command, once for each time that the container runs.
func (r *resource) serve(ctx context.Context) error {
	if len(r.config.command) == 0 || r.serving {
		return nil
	}
	args := slices.Concat(r.image.Entry, r.config.command)
	err := r.session.guard(ctx, func() error {
		_, err := r.session.Run(ctx, agent.Command{Args: args, Env: r.environment(), Dir: r.image.Dir, User: r.image.User, Detached: true}, nil)
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("begin the command of resource %q: %w", r.env.Resource, err), r.stop(ctx))
	}
	r.serving = true
	return nil
}

// Changed is true from the start of a command to the next commit, and while
// something runs in the container.
func (r *resource) Changed(context.Context) (bool, error) { return r.lost == nil && r.state.Dirty, nil }

// Lost tells of a container that is not there any more.
func (r *resource) Lost() (why error, final bool) { return r.gone, r.final }

// Close stops the container.
func (r *resource) Close(ctx context.Context) error {
	err := r.stop(ctx)
	return errors.Join(err, r.engine.Client.Close())
}

// TearDown removes the container.
func (r *resource) TearDown(ctx context.Context) error {
	err := r.stop(ctx)
	err = errors.Join(err, r.engine.sweep(ctx, r.state.Instance, ""))
	if err != nil {
		return err
	}
	if err := forgetOthers(r.env.Dir, ""); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(r.env.Dir, "state.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return r.engine.Client.Close()
}
