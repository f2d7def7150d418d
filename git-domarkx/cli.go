package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// globals are the options that every command accepts.
type globals struct {
	Quiet    bool   `short:"q" help:"Show no progress and no hints."`
	Color    string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour the output: auto (the default), always or never."`
	Progress bool   `negatable:"" default:"true" help:"Show progress on a terminal after a second."`

	Usage bool `short:"h" hidden:"" help:"Show the usage on one screen and stop."`
	Help  bool `help:"Show the whole help and stop; -h shows a screen."`

	Version bool `name:"version" hidden:"" help:"Print the version and stop."`
}

// commandLine is the grammar of the command line: its commands by the groups in which they are shown. Mounts are listed behind
// workspaces, but shown among the commands that change sessions.
type commandLine struct {
	globals
	readCommands   `group:"read"`
	changeCommands `group:"change"`
	spaceCommands  `group:"space"`
	mountCommands  `group:"change"`
	shareCommands  `group:"share"`
	careCommands   `group:"care"`
	toolCommands   `group:"tool"`
}

type (
	readCommands struct {
		Import   importCmd   `cmd:"" help:"Make sessions from documents."`
		Validate validateCmd `cmd:"" help:"Say whether documents are well formed."`
		List     listCmd     `cmd:"" help:"List the sessions."`
		Status   statusCmd   `cmd:"" help:"Say what is live, unsaved, untrusted, ahead or behind."`
		Search   searchCmd   `cmd:"" help:"Find messages by words, texts or regular expressions."`
		Show     showCmd     `cmd:"" help:"Print a session, an older snapshot of it or one message."`
		Log      logCmd      `cmd:"" help:"List the snapshots or the messages of a session."`
		Diff     diffCmd     `cmd:"" help:"Show what differs between two snapshots."`
		Blame    blameCmd    `cmd:"" help:"Say which message wrote each line of a file."`
		Review   reviewCmd   `cmd:"" help:"Show a change beside the conversation that led to it."`
		Export   exportCmd   `cmd:"" help:"Write a session in a format of choice."`
		Web      webCmd      `cmd:"" help:"Show the sessions in a browser on this machine."`
		Tokens   usageCmd    `cmd:"" name:"usage" help:"Count the tokens that models used, and what they cost."`
	}

	changeCommands struct {
		Append  appendCmd  `cmd:"" help:"Add a message to a session."`
		Edit    editCmd    `cmd:"" help:"Change a session in your editor."`
		Fork    forkCmd    `cmd:"" help:"Make a new session from a snapshot or message."`
		Rename  renameCmd  `cmd:"" help:"Give a session another name."`
		Rm      rmCmd      `cmd:"" help:"Move a session to the trash."`
		Restore restoreCmd `cmd:"" help:"Bring a session back from the trash."`
		Rewind  rewindCmd  `cmd:"" help:"Take a session back to an earlier message or snapshot."`
	}

	spaceCommands struct {
		Chat      chatCmd      `cmd:"" help:"Let a model answer in a session, with the tools of its workspace."`
		Trust     trustCmd     `cmd:"" help:"Show what a session can run, and trust it."`
		Run       runCmd       `cmd:"" help:"Make the pending calls of a session."`
		Exec      execCmd      `cmd:"" help:"Make one call in the workspace of a session."`
		Replay    replayCmd    `cmd:"" help:"Make the recorded calls again and compare what they leave."`
		Checkout  checkoutCmd  `cmd:"" help:"Write the workspace as a message left it to a directory."`
		Workspace workspaceCmd `cmd:"" help:"List, compare, remove and look into workspaces."`
		Model     modelCmd     `cmd:"" help:"List and try the models that can answer."`
		Plugin    pluginCmd    `cmd:"" help:"List what workspaces can be made of."`
		Agent     agentCmd     `cmd:"" help:"Record the conversations of coding agents, and go on with them."`
		Zeus      zeusCmd      `cmd:"" help:"Save the agents of Zeus, and start them again."`
	}

	mountCommands struct {
		Mount   mountCmd   `cmd:"" help:"Show the sessions as Markdown files."`
		Unmount unmountCmd `cmd:"" help:"End a mount."`
	}

	shareCommands struct {
		Redact redactCmd `cmd:"" help:"Replace the secrets of a session in its whole history."`
		Scan   scanCmd   `cmd:"" help:"Look for secrets in sessions."`
		Mcp    mcpCmd    `cmd:"" help:"Let other programs list, search and read the sessions (MCP)."`
		Push   pushCmd   `cmd:"" help:"Send sessions to a remote."`
		Fetch  fetchCmd  `cmd:"" help:"Get what a remote has, without merging it."`
		Pull   pullCmd   `cmd:"" help:"Get what a remote has and merge it."`
	}

	careCommands struct {
		Fsck   fsckCmd   `cmd:"" help:"Verify that every stored byte is what was written."`
		Doctor doctorCmd `cmd:"" help:"Find out what keeps git-domarkx from working here."`
		Gc     gcCmd     `cmd:"" help:"Tidy up, and empty the trash of what is old."`
		Size   sizeCmd   `cmd:"" help:"Say what takes space on the disk."`
	}

	toolCommands struct {
		ShowVersion versionCmd    `cmd:"" name:"version" help:"Print the version."`
		Completion  completionCmd `cmd:"" help:"Print the completion script of a shell."`
		Man         manCmd        `cmd:"" help:"Print or write the manual pages."`
		HelpOn      helpCmd       `cmd:"" name:"help" help:"Show the whole help of a command."`
		Complete    completeCmd   `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"List what a command line may go on with."`
	}
)

// newParser returns a parser of all commands, or of only the named one if it is a command:
// the model of all commands takes a quarter of the time of a short command.
func newParser(line *commandLine, name string) (*kong.Kong, error) {
	options := []kong.Option{
		kong.Name("git-domarkx"),
		kong.Description("Keep AI sessions in Git and edit them as Markdown files."),
		kong.NoDefaultHelp(),
		kong.WithHyphenPrefixedParameters(true),
		kong.KindMapper(reflect.String, verbatim{}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "read", Title: "Bring in and look"}, {Key: "change", Title: "Change"}, {Key: "space", Title: "Workspaces and agents"},
			{Key: "share", Title: "Share"}, {Key: "care", Title: "Keep whole"}, {Key: "tool", Title: "The program itself"},
		}),
	}
	grammar := any(line)
	if command, ok := onlyCommand(line, name); ok {
		grammar, options = &line.globals, append(options, command)
	}
	parser, err := kong.New(grammar, options...)
	if err == nil {
		describe(parser.Model.Node)
	}
	return parser, err
}

// onlyCommand returns the option that adds one command of the grammar to a parser. It
// reports false for commands that need the model of all commands.
func onlyCommand(line *commandLine, name string) (kong.Option, bool) {
	value := reflect.ValueOf(line).Elem()
	for _, field := range reflect.VisibleFields(value.Type()) {
		tag := field.Tag
		if _, isCommand := tag.Lookup("cmd"); isCommand && name == cmp.Or(tag.Get("name"), strings.ToLower(field.Name)) {
			group := value.Type().Field(field.Index[0]).Tag.Get("group")
			command := value.FieldByIndex(field.Index).Addr().Interface()
			return kong.DynamicCommand(name, tag.Get("help"), group, command), !slices.Contains([]string{"__complete", "man", "help"}, name)
		}
	}
	return nil, false
}

// verbatim decodes arguments unchanged.
type verbatim struct{}

// Decode implements [kong.Mapper].
func (verbatim) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	return asTyped(ctx, target)
}

// Vars implements [kong.VarsContributor]: only for help that names formats, since the parser looks for variables in each value of each
// variable again.
func (verbatim) Vars(v *kong.Value) kong.Vars {
	if !strings.Contains(v.Help, "${") {
		return nil
	}
	return kong.Vars{"agents": strings.Join(transcriptNames(false), ", "), "writable": inSentence(transcriptNames(true), "or")}
}

// asTyped decodes an argument unchanged. The parser's own decoder uses JSON, which cannot
// represent every file name, and treats "" as a missing value.
func asTyped(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	if token.IsEOL() {
		return errors.New("a value is missing")
	}
	target.SetString(fmt.Sprint(token.Value))
	return nil
}

// An optionalFlag is an option whose value can be left out: --name or --name=VALUE.
type optionalFlag struct {
	given bool
	value string // "" if it was left out
}

// Decode implements [kong.MapperValue].
func (f *optionalFlag) Decode(ctx *kong.DecodeContext) error {
	f.given = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	if err := asTyped(ctx, reflect.ValueOf(&f.value).Elem()); err != nil {
		return err
	}
	if f.value == "" {
		return fmt.Errorf("a value is missing after --%s=", ctx.Value.Name)
	}
	return nil
}

// IsBool makes the parser accept the option without a value.
func (optionalFlag) IsBool() bool { return true }

// A helpRequest stops parsing: whatever else the command line says, the user asked for help about a command, or the version.
type helpRequest struct {
	node *kong.Node
	flag string // usage, help or version
}

func (*helpRequest) Error() string { return "help was asked for" }

func (h *helpRequest) print(inv *invocation) error {
	switch h.flag {
	case "version":
		return versionCmd{}.Run(inv)
	case "help":
		_, err := inv.out.WriteString(clidoc.New(h.node, resultFields).Text())
		return err
	}
	if _, err := inv.out.WriteString(clidoc.New(h.node, resultFields).Screen()); err != nil {
		return err
	}
	return errUsageShown
}
