package clidoc_test

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// A grammar is a small command line with all that a page describes.
type grammar struct {
	Quiet    bool   `short:"q" help:"Say less."`
	When     string `enum:"auto,never" default:"auto" placeholder:"WHEN" help:"When to do it."`
	Progress bool   `negatable:"" default:"true" help:"Show progress."`
	Secret   bool   `hidden:"" help:"Not for users."`

	Copy     copyCmd     `cmd:"" group:"files" help:"Copy files."`
	Restore  restoreCmd  `cmd:"" group:"files" help:"Restore what was removed."`
	Box      boxCmd      `cmd:"" group:"boxes" help:"Open and close boxes."`
	Guide    guideCmd    `cmd:"" group:"boxes" help:"Explain a command."`
	Internal internalCmd `cmd:"" hidden:"" help:"Not for users."`
}

type copyCmd struct {
	JSON   bool     `name:"json" help:"Print JSON."`
	Team   string   `required:"" help:"The team."`
	Format string   `formats:"table" placeholder:"F" help:"The format, such as \u0060json\u0060."`
	Output string   `short:"o" placeholder:"PATH" help:"Where to write."`
	Into   string   `placeholder:"DIR" help:"Which directory."`
	Links  linkFlag `placeholder:"[=WS]" help:"Link them."`
	Hidden bool     `hidden:"" help:"Not for users."`
	From   string   `arg:"" name:"PATH" help:"What to copy."`
	To     []string `arg:"" name:"NAME" optional:"" help:"Where to."`
}

type linkFlag string

func (linkFlag) IsBool() bool { return true }

func (*linkFlag) Decode(*kong.DecodeContext) error { return nil }

func (copyCmd) Help() string {
	return `
Copies a file. This paragraph is longer than a line of eighty columns has room for,
so that it has to be wrapped somewhere.
It is one paragraph.

Another one:

    $ git domarkx copy 'a\b' -o .x
    .hidden~

- an item that is
  continued
- the second item, with ` + "`code -x`" + `

## Output

.TH is no request here.

## Exit status 1

A file was
missing.
`
}

type restoreCmd struct {
	Names []string `arg:"" name:"NAME" help:"What to restore."`
}

type boxCmd struct {
	Open struct {
		WS       string `arg:"" name:"WS" help:"A box."`
		Resource string `arg:"" name:"RESOURCE" optional:"" help:"A part of it."`
		Tool     string `arg:"" name:"TOOL" optional:"" help:"What to do."`
	} `cmd:"" help:"Open a box."`
	Close struct {
		Shell string `arg:"" name:"SHELL" enum:"bash,fish" help:"How."`
	} `cmd:"" help:"Close a box."`
}

type guideCmd struct {
	Command []string `arg:"" name:"COMMAND" optional:"" help:"Which command."`
}

type internalCmd struct{}

// model returns the model of the grammar.
func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(&grammar{}, kong.Name("git-domarkx"), kong.Description("Keep things."), kong.NoDefaultHelp(),
		kong.ExplicitGroups([]kong.Group{{Key: "files", Title: "Files"}, {Key: "boxes", Title: "Boxes"}}))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// fields returns the members of the results of copy.
func fields(command any) []clidoc.Item {
	if _, ok := command.(*copyCmd); ok {
		return []clidoc.Item{{Term: "bytes", Text: "The size."}}
	}
	return nil
}

// page returns the page of the command with these words, or of the program.
func page(t *testing.T, words ...string) *clidoc.Page {
	t.Helper()
	node := model(t).Node
	for _, word := range words {
		var next *kong.Node
		for _, child := range node.Children {
			if child.Name == word {
				next = child
			}
		}
		if node = next; node == nil {
			t.Fatalf("there is no command %q", words)
		}
	}
	return clidoc.New(node, fields)
}
