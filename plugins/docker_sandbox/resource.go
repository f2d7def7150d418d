package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
	"github.com/domarkx/domarkx/plugins/limit"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// A resource is one container.
type resource struct {
	env      domarkx.Env
	config   config
	engine   *engine
	image    engineapi.Image // of the container
	state    state
	unusable error // why the container cannot be used; nil if it can
	lost     error // unusable, with advice to the user; only Load and TearDown work then
	final    bool  // whether the state is gone for good, so that loading the last committed or loaded version loses nothing
	session  *session
	serving  bool              // whether the configured background command was started in this session
	base     *baseline         // nil until needed
	left     []domarkx.LeftOut // what the last commit left out
}

// make creates the first container.
func (r *resource) make(ctx context.Context) error {
	id, stamp, err := r.create(ctx, r.image)
	if err != nil {
		return err
	}
	return r.use(ctx, r.image, id, stamp, false)
}

func (r *resource) create(ctx context.Context, i engineapi.Image) (id, stamp string, err error) {
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

// use stores a container, already created, as the resource's container in the state. The files with
// its baseline and difference must exist.
func (r *resource) use(ctx context.Context, i engineapi.Image, id, stamp string, dirty bool) error {
	r.image = i
	r.state.Container, r.state.Agent, r.state.ImageID, r.state.settings, r.state.Dirty = id, stamp, i.ID, r.config.settings, dirty
	r.state.Engine = ""
	if info, err := r.engine.Info(ctx); err == nil { // only to distinguish engines
		r.state.Engine = info.ID
	}
	r.unusable, r.lost, r.final = nil, nil, false
	return r.state.write(r.env.Dir)
}

// start starts the container if it is not running, and lists its files if nothing has run in it yet.
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
	first, cancel := context.WithTimeout(ctx, r.engine.patience)
	defer cancel()
	if r.session, err = r.engine.start(first, r.state.Container, r.image); err != nil {
		// A command may have removed the agent, or replaced it by a program that never answers.
		if !sameEntry(stamp, r.state.Agent) {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), r.distrustAgent())
		}
		if r.renewAgent(ctx, stamp) != nil {
			return err // err says more: renewAgent fails only because the engine or the container is gone
		}
		if r.session, err = r.engine.start(ctx, r.state.Container, r.image); err != nil {
			return err
		}
	}
	r.serving = false
	if r.base != nil {
		return nil
	}
	if err := r.loadBase(ctx); err != nil {
		return errors.Join(err, r.abandon(ctx))
	}
	return nil
}

// loadBase reads the baseline, or lists the files if nothing has run in the container yet.
func (r *resource) loadBase(ctx context.Context) (err error) {
	path := baseFile(r.env.Dir, r.state.Container)
	if r.base, err = readBaseline(path); err != nil || r.base != nil {
		return err
	}
	entries, err := r.scan(ctx, r.session)
	if err != nil {
		return err
	}
	b := newBaseline(entries)
	if err := writeRecord(path, b); err != nil {
		return err
	}
	r.base = b
	return nil
}

// sameEntry reports whether a container that was created for agent a can start agent b. The two
// must have the same entrypoint, which Docker cannot change in an existing container.
func sameEntry(a, b string) bool {
	return strings.HasPrefix(a, agentLoader) == strings.HasPrefix(b, agentLoader)
}

// distrustAgent makes the next start copy the agent again.
func (r *resource) distrustAgent() error {
	r.state.Agent = r.engine.agent.entry()[0] // a stamp without the rest
	return r.state.write(r.env.Dir)
}

func (r *resource) renewAgent(ctx context.Context, stamp string) error {
	if err := r.engine.sendAgent(ctx, r.state.Container); err != nil {
		return err
	}
	r.state.Agent = stamp
	return r.state.write(r.env.Dir)
}

// maxListing limits the memory in bytes that the list of a container's files may take: enough for some ten million files.
const maxListing = 4 << 30

// scan lists the files of a container that versions may store.
func (r *resource) scan(ctx context.Context, s *session) ([]agent.Entry, error) {
	var entries []agent.Entry
	size := 0
	err := s.guard(ctx, func() error {
		return s.Scan(func(e agent.Entry) error {
			if e.Path == ".dockerenv" {
				return nil
			}
			if e.Path != "" && !isPath(e.Path) {
				return fmt.Errorf("the agent returned the invalid path %q: %w", e.Path, domarkx.ErrInvalid)
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

// stop stops the container and everything that runs in it.
func (r *resource) stop(ctx context.Context) error {
	if r.session == nil {
		return nil
	}
	s := r.session
	r.session = nil
	return s.end(ctx)
}

// abandon stops the container after its agent failed or did not answer.
func (r *resource) abandon(ctx context.Context) error {
	return errors.Join(r.stop(ctx), r.distrustAgent())
}

// Execute runs the tool run_command.
func (r *resource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	if call.Tool != "run_command" {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeUnknownTool, "docker_sandbox has no tool %q, only run_command", call.Tool)
	}
	command, _ := call.Arguments.Get("command")
	if own, ok := plugins.OwnTimeout(call.Arguments); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, own)
		defer cancel()
	}
	return r.run(ctx, []string{"sh"}, command.Text())
}

// Run runs a code block with the container's own interpreter.
func (r *resource) Run(ctx context.Context, language, code string) (domarkx.Result, error) {
	programs, ok := languages[language]
	if !ok {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "docker_sandbox does not run %q", language)
	}
	return r.run(ctx, programs, code)
}

// maxCode is the longest argument that Linux accepts (MAX_ARG_STRLEN), without its NUL.
const maxCode = 1<<17 - 1

// run runs code with an interpreter: the first of programs that exists in the container.
func (r *resource) run(ctx context.Context, programs []string, code string) (domarkx.Result, error) {
	if len(code) > maxCode {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "a command of %d bytes; Linux takes %d", len(code), maxCode)
	}
	if i := slices.Index([]byte(code), 0); i >= 0 {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "a command with a NUL byte, at %d", i)
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
			return spool.Result(toolresult.Status{TimedOut: true, Over: r.over()})
		case err != nil:
			return domarkx.Result{}, errors.Join(err, spool.Close())
		}
		return spool.Result(toolresult.Status{ExitCode: exit, Over: r.over()})
	}
	return domarkx.Result{}, errors.Join(spool.Close(), domarkx.NewToolError(domarkx.CodeNotFound,
		"the container of image %q has no %s", r.state.Image, programs[0]))
}

// over names the limits that the last command reached.
func (r *resource) over() string {
	reached, said := r.session.Reached(), []string{}
	if reached.Processes {
		said = append(said, limit.Processes.Over(r.config.Processes))
	}
	if reached.Memory {
		said = append(said, limit.Memory.Over(r.config.Memory))
	}
	return strings.Join(said, " and ")
}

// killTimeout limits how long the processes of a killed command may take to end; after that the container is stopped.
const killTimeout = 5 * time.Second

// command runs a program. If the connection breaks meanwhile, the container ends, and the next call starts it again.
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
	exit, err := s.Run(ctx, r.program(args), spool)
	var refused *agent.RequestError
	switch {
	case err == nil || errors.Is(err, agent.ErrNoProgram) || errors.As(err, &refused) || errors.Is(err, ctx.Err()) && ctx.Err() != nil:
		return exit, err
	case ctx.Err() != nil:
		return 0, errors.Join(ctx.Err(), r.stop(ctx))
	}
	message := fmt.Sprintf("the container ended during the command: %v", err)
	if said := s.stderr.String(); said != "" {
		message += "; the agent reported: " + said
	}
	if found, err := r.engine.Inspect(ctx, r.state.Container); err == nil && found.OOMKilled && !found.Running {
		message += "; it used " + limit.Memory.Over(r.config.Memory)
	}
	return 0, errors.Join(&domarkx.ToolError{Code: domarkx.CodeFailed, Message: message}, r.stop(ctx))
}

// program returns a command with the environment, directory and user of the image.
func (r *resource) program(args []string) agent.Command {
	return agent.Command{Args: args, Env: slices.Concat(r.image.Config.Env, r.config.env), Dir: r.image.Config.WorkingDir, User: r.image.Config.User}
}

// serve starts the configured command, once each time that the container is started.
func (r *resource) serve(ctx context.Context) error {
	if len(r.config.command) == 0 || r.serving {
		return nil
	}
	service := r.program(slices.Concat(r.image.Config.Entrypoint, r.config.command))
	service.Detached = true
	err := r.session.guard(ctx, func() error {
		_, err := r.session.Run(ctx, service, io.Discard)
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start the command of resource %q: %w", r.env.Resource, err), r.stop(ctx))
	}
	r.serving = true
	return nil
}

// Changed reports true from the start of a command until the next commit, and while a process runs in the container.
func (r *resource) Changed(context.Context) (bool, error) { return r.lost == nil && r.state.Dirty, nil }

// Lost reports why the container cannot be used; see [domarkx.LostStateReporter].
func (r *resource) Lost() (why error, final bool) { return r.unusable, r.final }

// Close stops the container.
func (r *resource) Close(ctx context.Context) error {
	defer r.engine.Client.Close()
	return r.stop(ctx)
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
	r.engine.Client.Close()
	return nil
}
