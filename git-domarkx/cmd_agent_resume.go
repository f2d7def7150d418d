package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/origin"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins/permit"
)

type agentResumeCmd struct {
	In       string      `placeholder:"AGENT" help:"The agent to go on in; without it, the one whose transcript was imported."`
	Print    bool        `help:"Print the command that starts the agent, quoted for a shell, instead of running it."`
	Yes      bool        `help:"Do not ask about a session that may come from a remote."`
	Revision revisionArg `arg:"" name:"NAME[#K]" of:"session" help:"A session, or a message of it to go on from."`
}

func (c *agentResumeCmd) Run(inv *invocation, opened managers) error {
	info, err := opened.sessions.Resolve(inv.ctx, c.Revision.Revision)
	if err != nil {
		return err
	}
	was, err := opened.origins().Of(inv.ctx, info)
	if err != nil {
		return err
	}
	agent, err := c.agent(was)
	if err != nil {
		return err
	}
	model, err := c.ready(inv, agent)
	if err != nil {
		return err
	}
	p, err := c.permitted(inv, opened, agent, info, was)
	if err != nil {
		return err
	}
	revision, err := c.fork(inv, opened, c.Revision.Revision, info)
	if err != nil {
		return err
	}
	own := ""
	if revision.Name == info.Name {
		if own, err = opened.origins().Same(agent.Name, info); err != nil {
			return err
		}
		if agent.Name == was.Format && was.Unchanged && was.ID != "" {
			own = was.ID
		}
	}
	command, file, err := c.startWith(inv, opened, p, agent, revision, own, model)
	if err != nil {
		return err
	}
	if c.Print {
		_, err := fmt.Fprintln(inv.out, quoted(command))
		return err
	}
	before, err := agent.Find(inv.ctx, inv.getenv)
	if err != nil {
		return err
	}
	failed := inv.runProgram(p, command)
	if failed != nil {
		printError(inv.err, failed)
		failed = errNo
	}
	return errors.Join(failed, c.record(inv, opened, agent, file, before))
}

// record imports the transcript with which the agent was started, and the transcripts that began in
// this repository and are not among those before: some agents continue a session in another file.
func (c *agentResumeCmd) record(inv *invocation, opened managers, agent agents.Agent, file string, before []string) error {
	redact, err := inv.redactOnImport()
	if err != nil {
		return err
	}
	continued, err := opened.imports.Import(inv.ctx, importer.Request{Paths: []string{file}, Redact: redact})
	if err != nil {
		return err
	}
	recorded, err := inv.recorded(opened.git)
	if err != nil {
		return err
	}
	_, here, err := inv.transcriptsHere(agent, recorded.Trees)
	if err != nil {
		return err
	}
	here = slices.DeleteFunc(here, func(path string) bool { return path == file || slices.Contains(before, path) })
	begun, err := opened.imports.Import(inv.ctx, importer.Request{Paths: inv.withoutIgnored(agent, recorded.Trees, here, recorded.Ignore), Recognized: true, Ignore: recorded.Ignore.Title, Redact: redact})
	return errors.Join(err, inv.bad(append(continued.Bad, begun.Bad...)...))
}

// agent returns the agent that the user named, or the one from which the session was imported.
func (c *agentResumeCmd) agent(was origin.Session) (agents.Agent, error) {
	for _, a := range resumable() {
		if a.Name == c.In || c.In == "" && a.Name == was.Format {
			return a, nil
		}
	}
	names := agentNames(resumable())
	if c.In != "" {
		return agents.Agent{}, usagef("%q is not an agent that can go on with a session; expected %s", c.In, strings.Join(names, ", "))
	}
	return agents.Agent{}, usagef("the session is not from one of these agents; name one with --in: %s", strings.Join(names, ", "))
}

// resumable returns the agents that can go on with a session.
func resumable() []agents.Agent {
	return slices.DeleteFunc(agents.All(), func(a agents.Agent) bool { return !a.CanResume() })
}

// ready returns an error if the agent is not installed but needed, or does not know this directory or a model. It returns the
// model that the agent is to ask, if the transcript names it.
func (c *agentResumeCmd) ready(inv *invocation, agent agents.Agent) (model string, err error) {
	workDir, err := inv.workDir()
	if err != nil {
		return "", err
	}
	dir, err := agent.ResumeDir(inv.getenv, workDir)
	if err != nil || c.Print && dir != "" {
		return "", err
	}
	_, err = exec.LookPath(agent.Program)
	switch {
	case !errors.Is(err, exec.ErrNotFound) && agent.Resume.Model != nil:
		return agent.Resume.Model(inv.ctx, inv.getenv, workDir)
	case !errors.Is(err, exec.ErrNotFound):
		return "", nil // other errors are those of starting it
	case agent.Install != "":
		err = fmt.Errorf("%w; install it with: %s", err, agent.Install)
	default:
		err = fmt.Errorf("%w; install it", err)
	}
	if dir == "" { // the agent has to import the session itself
		return "", fmt.Errorf("starting %s: %w, or name another agent with --in", agent.Program, err)
	}
	return "", fmt.Errorf("starting %s: %w, name another agent with --in, or get the command for a machine that has it with --print", agent.Program, err)
}

// permitted returns the permit to start an agent with a session as its context. The user is asked if a
// remote has the session and the session was not imported from a document on this machine.
func (c *agentResumeCmd) permitted(inv *invocation, opened managers, agent agents.Agent, info domarkx.Info, was origin.Session) (permit.Permit, error) {
	own := was.Here
	if !own && !c.Yes {
		fetched, err := c.isFetched(inv, opened, info.Name)
		if err != nil {
			return permit.Permit{}, err
		}
		own = !fetched
	}
	consent := trust.Consent{Yes: c.Yes}
	if isTerminal(inv.in) && isTerminal(inv.err) {
		consent.Ask = func(ctx context.Context, _ *trust.UntrustedError) (bool, error) {
			return inv.agrees(ctx, visible(info.Name)+" may come from a remote, and its text becomes the agent's context. Go on?")
		}
	}
	p, err := opened.trust.Gate(consent).Permit(inv.ctx, trust.Resume{Session: info.Name, Program: agent.Program, Own: own})
	if is[*trust.UntrustedError](err) {
		printError(inv.err, fmt.Errorf("resuming %s: it may come from a remote, and its text becomes the agent's context; read it, then repeat this with --yes", visible(info.Name)))
		err = errNo
	}
	return p, err
}

// isFetched reports whether a remote had a session with that name when this repository last fetched from it or pushed to it.
func (c *agentResumeCmd) isFetched(inv *invocation, opened managers, name string) (bool, error) {
	remotes, err := inv.remotes()
	if err != nil {
		return false, err
	}
	for _, remote := range remotes {
		tracked, err := opened.remotes.Tracked(inv.ctx, remote)
		if err != nil {
			return false, err
		}
		if tracked.Sessions[name] != "" {
			return true, nil
		}
	}
	return false, nil
}

// fork forks the session if the revision is not the end of it, and returns the revision to resume.
func (c *agentResumeCmd) fork(inv *invocation, opened managers, revision engine.Revision, info domarkx.Info) (engine.Revision, error) {
	tip, err := opened.sessions.Resolve(inv.ctx, tipOf(revision.Name))
	if err != nil {
		return revision, err
	}
	if whole := revision.Message < 0 || revision.Message == info.Messages-1; whole && tip.ID == info.ID {
		return tipOf(revision.Name), nil
	}
	base := revision.Name + ".resumed"
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		fork, err := opened.turns.Fork(inv.ctx, revision, name)
		if errors.Is(err, domarkx.ErrExists) && n < 1000 {
			continue
		}
		if err != nil {
			return revision, err
		}
		fmt.Fprintf(inv.err, "forked as %s\n", visible(fork.Name))
		return tipOf(fork.Name), nil
	}
}

// startWith returns the command that starts the agent, and the path of the transcript in which the agent continues. own is the id
// of the agent's own session with the same content, or "".
func (c *agentResumeCmd) startWith(inv *invocation, opened managers, p permit.Permit, agent agents.Agent, revision engine.Revision, own, model string) (command []string, file string, err error) {
	find := func(session string) (file string, ok bool, err error) {
		files, err := agent.Find(inv.ctx, inv.getenv)
		if err == nil {
			file, ok = agent.HasSession(files, session)
		}
		return file, ok, err
	}
	if own != "" {
		if file, ok, err := find(own); ok || err != nil {
			return agent.ResumeCommand(own), file, err
		}
	}
	workDir, err := inv.workDir()
	if err != nil {
		return nil, "", err
	}
	id, err := agent.NewID()
	if err != nil {
		return nil, "", err
	}
	dir, err := agent.ResumeDir(inv.getenv, workDir)
	if err != nil {
		return nil, "", err
	}
	export, err := opened.sessions.Export(inv.ctx, engine.ExportRequest{Revision: revision, Format: agent.Name,
		New: &format.NewSession{ID: id, WorkDir: workDir, Model: model, Aside: agent.Resume.Aside}})
	if err != nil {
		return nil, "", err
	}
	inv.reportLosses(export)
	if dir == "" {
		err = c.hand(inv, p, agent, export)
	} else {
		file, err = export.WriteIn(dir, 0o600) // the mode of agents' own transcripts
	}
	if err != nil {
		return nil, "", err
	}
	if err := opened.sessions.RememberExport(inv.ctx, export, file); err != nil {
		return nil, "", err
	}
	session := agent.SessionID(id)
	if dir == "" { // the agent has imported the session into a file that other sessions share
		var ok bool
		if file, ok, err = find(session); err == nil && !ok {
			return nil, "", fmt.Errorf("%s imported the session %s but does not have it: %w", agent.Name, session, domarkx.ErrNotFound)
		}
	}
	return agent.ResumeCommand(session), file, err
}

// hand runs the import command of an agent that does not store sessions in separate files.
func (c *agentResumeCmd) hand(inv *invocation, p permit.Permit, agent agents.Agent, export *engine.Export) error {
	dir, err := os.MkdirTemp("", "git-domarkx-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "session.json")
	if err := export.WriteFile(path); err != nil {
		return err
	}
	command := agent.ImportCommand(path)
	if out, err := inv.agent(inv.ctx, p, nil, command).CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", quoted(command), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// runProgram runs a program in the foreground with the standard streams of this one. An
// interrupt from the terminal reaches both programs; only the other one handles it.
func (inv *invocation) runProgram(p permit.Permit, command []string) error {
	defer inv.signals.handle(func(s os.Signal) bool {
		if s == os.Interrupt {
			inv.signals.notify() // ignore further interrupts, too
		}
		return s == os.Interrupt
	})()
	if err := inv.agent(context.WithoutCancel(inv.ctx), p, inv.out, command).Run(); err != nil {
		return fmt.Errorf("running %s: %w", command[0], err)
	}
	return nil
}

// workDir returns the current directory without symbolic links. Agents store their directories in this form.
func (inv *invocation) workDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the current directory: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// quoted returns a command line with quotes for a POSIX shell.
func quoted(command []string) string {
	words := slices.Clone(command)
	for i, word := range words {
		words[i] = refname.Argument(word)
	}
	return strings.Join(words, " ")
}
