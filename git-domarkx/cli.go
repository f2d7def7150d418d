package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// The groups of commands, in the order in which they are shown.
const (
	groupRead   = "Bring in and look"
	groupChange = "Change"
	groupSpace  = "Workspaces and agents"
	groupShare  = "Share"
	groupCare   = "Keep whole"
	groupTool   = "The program itself"
)

// globals are the options that every command accepts.
type globals struct {
	Quiet    bool   `short:"q" help:"Show no progress and no hints."`
	Color    string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour the output: auto (the default), always or never."`
	Progress bool   `negatable:"" default:"true" help:"Show progress on a terminal after a second."`

	Usage usageFlag `short:"h" hidden:"" help:"Show the usage on one screen and stop."`
	Help  helpFlag  `help:"Show the whole help and stop; -h shows a screen."`

	Version versionFlag `name:"version" hidden:"" help:"Print the version and stop."`
}

// commandLine is the grammar of the command line.
type commandLine struct {
	globals

	Import   importCmd   `cmd:"" group:"read" help:"Make sessions from documents."`
	Validate validateCmd `cmd:"" group:"read" help:"Say whether documents are well formed."`
	List     listCmd     `cmd:"" group:"read" help:"List the sessions."`
	Status   statusCmd   `cmd:"" group:"read" help:"Say what is live, unsaved, untrusted, ahead or behind."`
	Search   searchCmd   `cmd:"" group:"read" help:"Find messages by words, texts or regular expressions."`
	Show     showCmd     `cmd:"" group:"read" help:"Print a session, an older snapshot of it or one message."`
	Log      logCmd      `cmd:"" group:"read" help:"List the snapshots or the messages of a session."`
	Diff     diffCmd     `cmd:"" group:"read" help:"Show what differs between two snapshots."`
	Blame    blameCmd    `cmd:"" group:"read" help:"Say which message wrote each line of a file."`
	Review   reviewCmd   `cmd:"" group:"read" help:"Show a change beside the conversation that led to it."`
	Export   exportCmd   `cmd:"" group:"read" help:"Write a session in a format of choice."`
	Web      webCmd      `cmd:"" group:"read" help:"Show the sessions in a browser on this machine."`
	Tokens   usageCmd    `cmd:"" name:"usage" group:"read" help:"Count the tokens that models used, and what they cost."`

	Append  appendCmd  `cmd:"" group:"change" help:"Add a message to a session."`
	Edit    editCmd    `cmd:"" group:"change" help:"Change a session in your editor."`
	Fork    forkCmd    `cmd:"" group:"change" help:"Make a new session from a snapshot or message."`
	Rename  renameCmd  `cmd:"" group:"change" help:"Give a session another name."`
	Rm      rmCmd      `cmd:"" group:"change" help:"Move a session to the trash."`
	Restore restoreCmd `cmd:"" group:"change" help:"Bring a session back from the trash."`
	Rewind  rewindCmd  `cmd:"" group:"change" help:"Take a session back to an earlier message or snapshot."`

	Chat   chatCmd   `cmd:"" group:"space" help:"Let a model answer in a session, with the tools of its workspace."`
	Trust  trustCmd  `cmd:"" group:"space" help:"Show what a session can run, and trust it."`
	Run    runCmd    `cmd:"" group:"space" help:"Make the pending calls of a session."`
	Exec   execCmd   `cmd:"" group:"space" help:"Make one call in the workspace of a session."`
	Replay replayCmd `cmd:"" group:"space" help:"Make the recorded calls again and compare what they leave."`

	Checkout  checkoutCmd  `cmd:"" group:"space" help:"Write the workspace as a message left it to a directory."`
	Workspace workspaceCmd `cmd:"" group:"space" help:"List, compare, remove and look into workspaces."`
	Model     modelCmd     `cmd:"" group:"space" help:"List and try the models that can answer."`
	Plugin    pluginCmd    `cmd:"" group:"space" help:"List what workspaces can be made of."`

	Agent agentCmd `cmd:"" group:"space" help:"Record the conversations of coding agents, and go on with them."`
	Zeus  zeusCmd  `cmd:"" group:"space" help:"Save the agents of Zeus, and start them again."`

	Mount   mountCmd   `cmd:"" group:"change" help:"Show the sessions as Markdown files."`
	Unmount unmountCmd `cmd:"" group:"change" help:"End a mount."`

	Redact redactCmd `cmd:"" group:"share" help:"Replace the secrets of a session in its whole history."`

	Scan  scanCmd  `cmd:"" group:"share" help:"Look for secrets in sessions."`
	Mcp   mcpCmd   `cmd:"" group:"share" help:"Let other programs list, search and read the sessions (MCP)."`
	Push  pushCmd  `cmd:"" group:"share" help:"Send sessions to a remote."`
	Fetch fetchCmd `cmd:"" group:"share" help:"Get what a remote has, without merging it."`
	Pull  pullCmd  `cmd:"" group:"share" help:"Get what a remote has and merge it."`

	Fsck   fsckCmd   `cmd:"" group:"care" help:"Verify that every stored byte is what was written."`
	Doctor doctorCmd `cmd:"" group:"care" help:"Find out what keeps git-domarkx from working here."`
	Gc     gcCmd     `cmd:"" group:"care" help:"Tidy up, and empty the trash of what is old."`
	Size   sizeCmd   `cmd:"" group:"care" help:"Say what takes space on the disk."`

	ShowVersion versionCmd    `cmd:"" name:"version" group:"tool" help:"Print the version."`
	Completion  completionCmd `cmd:"" group:"tool" help:"Print the completion script of a shell."`
	Man         manCmd        `cmd:"" group:"tool" help:"Print or write the manual pages."`
	HelpOn      helpCmd       `cmd:"" name:"help" group:"tool" help:"Show the whole help of a command."`

	Complete completeCmd `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"List what a command line may go on with."`
}

// newParser returns a parser of all commands, or of only the named one if it is a command:
// the model of all commands takes a quarter of the time of a short command.
func newParser(line *commandLine, name string) (*kong.Kong, error) {
	options := []kong.Option{
		kong.Name("git-domarkx"),
		kong.Description("Keep AI sessions in Git and edit them as Markdown files."),
		kong.NoDefaultHelp(),
		kong.WithHyphenPrefixedParameters(true),
		kong.Vars{"agents": strings.Join(transcriptNames(false), ", "), "writable": inSentence(transcriptNames(true), "or")},
		kong.KindMapper(reflect.String, kong.MapperFunc(asTyped)),
		kong.ExplicitGroups([]kong.Group{
			{Key: "read", Title: groupRead}, {Key: "change", Title: groupChange}, {Key: "space", Title: groupSpace},
			{Key: "share", Title: groupShare}, {Key: "care", Title: groupCare}, {Key: "tool", Title: groupTool},
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
		if _, isCommand := tag.Lookup("cmd"); !isCommand || name != cmp.Or(tag.Get("name"), strings.ToLower(field.Name)) {
			continue
		}
		command := value.FieldByIndex(field.Index).Addr().Interface()
		if _, all := command.(modelReader); all {
			return nil, false
		}
		return kong.DynamicCommand(name, tag.Get("help"), tag.Get("group"), command), true
	}
	return nil, false
}

// A modelReader is a command that needs the model of all commands.
type modelReader interface{ readsModel() }

func (*completeCmd) readsModel() {}

func (*manCmd) readsModel() {}

func (*helpCmd) readsModel() {}

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

// A helpRequest stops parsing because the user asked for help about a command.
type helpRequest struct {
	node *kong.Node
	long bool
}

func (*helpRequest) Error() string { return "help was asked for" }

func (h *helpRequest) print(out *output) error {
	if h.long {
		return clidoc.New(h.node, resultFields).WriteText(out)
	}
	if err := clidoc.New(h.node, resultFields).WriteUsage(out); err != nil {
		return err
	}
	return errUsageShown
}

// A stopFlag is a flag that stops parsing: whatever else the command line says, the program prints what the error asks for.
type stopFlag interface {
	stop(command *kong.Node) error
}

type usageFlag bool

func (usageFlag) stop(command *kong.Node) error { return &helpRequest{node: command} }

type helpFlag bool

func (helpFlag) stop(command *kong.Node) error { return &helpRequest{node: command, long: true} }

func selected(ctx *kong.Context) *kong.Node {
	if node := ctx.Selected(); node != nil {
		return node
	}
	return ctx.Model.Node
}

type versionFlag bool

func (versionFlag) stop(*kong.Node) error { return errVersion }

// errVersion stops parsing because the user asked for the version.
var errVersion = errors.New("the version was asked for")
