package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

type importCmd struct {
	jsonOption
	As     string    `placeholder:"NAME" help:"The session's name, when one document is imported; of several, that of standard input."`
	Format string    `placeholder:"F" help:"The documents' format: md, json, agent-chatter, zeus, openpocket, or an agent (${agents}). Recognised by content unless given."`
	Links  linksFlag `placeholder:"[=WS]" help:"Link messages to the workspace versions that the documents state, where the session's workspace, or WS, has them."`
	Attach []string  `placeholder:"PATH" sep:"none" help:"Keep this file with the session, by its path below the document's directory. Can be given several times, for one document."`
	Paths  []string  `arg:"" name:"PATH" help:"A file, a directory, or - for standard input, which needs --as."`
}

// A linksFlag is an option with an optional value.
type linksFlag struct {
	given     bool
	workspace string // "" if no value was given
}

// Decode reads the value after "=", if any.
func (l *linksFlag) Decode(ctx *kong.DecodeContext) error {
	l.given = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	token, err := ctx.Scan.PopValue("workspace")
	if err != nil {
		return err
	}
	if l.workspace = fmt.Sprint(token.Value); l.workspace == "" {
		return errors.New("expected the name of a workspace after --links=")
	}
	return nil
}

// IsBool makes the parser accept the option without a value.
func (linksFlag) IsBool() bool { return true }

func (importCmd) Help() string {
	return `
Makes a session of each document. Formats are domarkx Markdown (md), the domarkx
snapshot (json), the sessions of agent-chatter and OpenPocket, the snapshots of Zeus, and
the transcripts of the agents ` + inSentence(programs(transcriptCodecs()), "and") + `;
that of OpenCode is its export.

A session is named by --as, else by the file's name without its extension; inside an
imported directory, by its path below that directory. Characters that a name cannot have
become "-". When a session from another source has the name already, the new one gets
"-2"; --as refuses such a name instead.

A session of agent-chatter is named TEAM/SESSION by the ids in it. It saves a new file
each time; all files of one session become snapshots of it, in the order in which they
were saved, whether they are imported together or one by one. A save that is older than
what was imported last changes nothing.

The branches of a transcript of pi become sessions beside its own, named with .fork-ID
behind its name (with --as, behind NAME), ID being the entry at a branch's end. Messages
that branches share are stored once.

A transcript of an agent other than pi is named AGENT/YYYY-MM-DD-TITLE after the day of
its first message (UTC) and its title or first prompt, that of a sub-agent after the
session that started it, with .agent-ID, whichever is imported first. It is known by the
agent's own id, wherever its file is. Its calls are records: nothing runs them. What cannot be read in a
damaged transcript is reported and kept; everything else is imported. A compressed
transcript (.zst) is the one that it holds. Transcripts of
Goose, Droid, Amp and Cline are not supported yet; they are recognised and refused.

OpenPocket's workspace, or its home above it (~/.openpocket), is imported whole: the
sessions become sessions; memory, screenshots, scripts and what was given with
approvals become a version of the workspace openpocket, which the messages that name
them are linked to.

Importing the same source again continues its session: an unchanged document makes no
snapshot, a changed one makes the next. When the session was changed here as well, the
two are merged, as pull does it.

A document that show or export made of a snapshot, the newest or an earlier one, makes no
snapshot either. When its program went on with it, the session gets what the program
added: messages that the session has already are the same messages, and what the format
cannot hold stays.

In a directory only documents that are recognised as sessions are taken; hidden files and
those that Git ignores are passed over, and a line says how many others there were. A
file that is named is always tried. When one of several documents is bad, the others
are imported.

` + "`" + `[include](path)` + "`" + ` and ` + "`" + `[include](path#N)` + "`" + ` in a document read only inside its own
directory. What they include is stored with the snapshot.

A file without a message, and a new one with headings of another dialect (## system, ## tool),
is refused, unless --format md insists that it is a session. An empty file, and one with front
matter or configuration alone, is a session without messages.

A document that is damaged, or does not quite fit its format, is imported as far as possible,
with a warning on standard error; git domarkx validate refuses it. Warnings of a kind are one line, with the first of them and
how many more there are; validate lists all damage of a document.

A ` + "`" + `workspace_version` + "`" + ` that a document gives a message is only data: it is kept in the
message's metadata. With --links it becomes a link, when it is a version of the session's
workspace in this repository (with --links=WS, of the workspace WS); each version that is
not found there is reported. Use that for documents that you trust: what is linked is
pushed with the session.

Images that a Markdown document or a snapshot shows, as ` + "`![...](shot.png)`" + `, are kept with
the session when the document itself is named, not a directory with it: PNG, JPEG, GIF, WebP and
AVIF files by their content, of at most 16 MiB each and 100 MiB together, inside the document's
directory. Symbolic links, hidden files, and what Git ignores are left out. Standard error
says how many files are kept, and why others are not. --attach keeps any other file inside that
directory; for standard input it is the current directory. Attached files are pushed and exported along,
and a mount shows them beside the session. Transcripts of other programs, text from a model and
append never bring files.

A warning says how many secrets "git domarkx scan" finds in imported messages. Of more than 16 MB only the beginning is
scanned for it, so that an import stays fast; the warning says that, and scan and push look at the rest. After

    git config domarkx.redact import

they are replaced by [REDACTED:RULE:N] in documents, in what these include and in attached text, before anything is stored; the
original is then exported like that, too. The same happens to what is imported into a session that was redacted,
on every machine. Pictures stay as they are.

The setup script, configuration and tool calls in a document are stored; nothing of
them is run.

A snapshot of Zeus names the transcripts of its agents; those that are there are kept with
the session, and one that is not, or is no session of pi, is a warning. When one grew,
importing the same snapshot again keeps it anew.

## Output

    NAME  OID  MESSAGES

One line for each session, with its newest snapshot and how many messages it has. On a terminal only those that are new or
changed are listed.

## Examples

    git domarkx import session.md notes/
    git domarkx import ~/.agent-chatter/sessions
    git domarkx import --links=talk --as copy talk.json
    curl -s https://example.org/talk.md | git domarkx import --as talk -
`
}

func (importCmd) ExitOne() string {
	return "A document could not be imported; the others were."
}

func (c *importCmd) Run(inv *invocation) error {
	if c.Format != "" {
		if err := checkFormat(c.Format); err != nil {
			return err
		}
	}
	if err := c.checkAs(); err != nil {
		return err
	}
	if len(c.Attach) > 0 && !c.isOneDocument() {
		return usagef("--attach adds files to one document; name that alone")
	}
	opened, err := inv.open()
	if err != nil {
		return err
	}
	request := importer.Request{Paths: c.Paths, As: c.As, Format: c.Format, Links: c.Links.given, LinksOf: c.Links.workspace, Attach: c.Attach}
	if slices.Contains(c.Paths, "-") {
		input, err := inv.spoolInput()
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		defer input.close()
		request.Stdin = input
	}
	return inv.importDocuments(opened, request, c.JSON)
}

// importMemory is the size of the heap in bytes from which an import collects garbage more
// often. If a large document needs more, importDocuments removes this limit.
const importMemory = 200 << 20

// importDocuments imports documents and prints the sessions.
func (inv *invocation) importDocuments(opened managers, request importer.Request, asJSON bool) error {
	opened.store.BoundMemory(packMemory)
	setMemoryLimit(inv.getenv, importMemory)
	request.Large = func() {
		setMemoryLimit(inv.getenv, math.MaxInt64)
		setGCPercent(inv.getenv, 50) // the heap grows with the number of messages
	}
	progress := inv.progress()
	request.Progress = func(done, total int) { progress.report("importing documents", int64(done), int64(total)) }
	redact, err := inv.redactOnImport()
	if err != nil {
		return err
	}
	request.Redact = redact
	result, err := opened.imports.Import(inv.ctx, request)
	progress.finish()
	if err != nil {
		return err
	}
	if err := printImport(inv, asJSON, result); err != nil {
		return err
	}
	if !inv.opts.Quiet {
		printWarnings(inv.err, result.Warnings)
		if result.Redacted > 0 {
			inv.notice(fmt.Sprintf("%s replaced by [REDACTED:RULE:N] before anything was stored; the originals are exported like that", counted(result.Redacted, "secret")))
		}
		inv.warnSecrets(opened, result.Sessions)
	}
	return badInput(inv, result.Bad)
}

// packMemory is how many bytes of packs may stay in memory while whole sessions are
// processed.
const packMemory = 32 << 20

// checkAs returns a usage error if --as does not fit the paths.
func (c *importCmd) checkAs() error {
	if slices.Contains(c.Paths, "-") {
		if c.As == "" {
			return usagef("standard input has no name; give it one with --as NAME")
		}
		return nil
	}
	if c.As == "" {
		return nil
	}
	if len(c.Paths) > 1 {
		return usagef("--as names one document, not %d; import them one by one", len(c.Paths))
	}
	if info, err := os.Stat(c.Paths[0]); err == nil && info.IsDir() {
		return usagef("--as names one document, and %q is a directory", c.Paths[0])
	}
	return nil
}

// isOneDocument reports whether the command line names exactly one path, and that is not a
// directory.
func (c *importCmd) isOneDocument() bool {
	if len(c.Paths) != 1 {
		return false
	}
	info, err := os.Stat(c.Paths[0])
	return err != nil || !info.IsDir()
}

func (importCmd) row() any { return []importRow{} }

type importRow struct {
	sessionRow
	Messages int `json:"messages" head:"MESSAGES" doc:"how many messages the session has"`
}

func printImport(inv *invocation, asJSON bool, result importer.Result) error {
	rows := make([]importRow, 0, len(result.Sessions))
	changed := 0
	for _, s := range result.Sessions {
		if s.Changed {
			changed++
		}
		if s.Changed || asJSON || !inv.out.tty {
			rows = append(rows, importRow{sessionRow{s.Name, oidField(s.ID)}, s.Messages})
		}
	}
	if err := printResults(inv, asJSON, rows); err != nil {
		return err
	}
	if inv.out.tty { // what follows is about the table
		if err := inv.out.Flush(); err != nil {
			return err
		}
	}
	if n := len(result.Attached); n > 0 {
		first, more := result.Attached[0], ""
		if n > 1 {
			more = fmt.Sprintf(" (and %s)", counted(n-1, "other file"))
		}
		inv.say("%s: attached %s (%d bytes)%s", visible(first.Session), visibleLine(first.Path), first.Size, more)
	}
	for _, k := range result.Kept {
		if !inv.opts.Quiet {
			fmt.Fprintf(inv.err, "%s: its files were stored as version %s of the workspace %s\n", visibleLine(k.Directory), k.Version.ID[:12], k.Version.Workspace)
		}
	}
	repeated := len(result.Sessions) > 0 && changed == 0
	if result.Empty > 0 && !repeated && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "transcripts without a message that were skipped: %d\n", result.Empty)
	}
	if result.Others > 0 && !repeated && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "%s not recognised as a session, and skipped; to import one anyway, name it\n", counted(result.Others, "other file"))
	}
	if n := len(result.Sessions); (n > 1 || repeated) && !asJSON {
		inv.allIsWell(fmt.Sprintf("import: %s, %s new or changed", counted(n, "session"), grouped(changed)))
	}
	return nil
}

// badInput prints errors in the input, one per line. It returns errNo, or nil if there are
// none.
func badInput(inv *invocation, bad []error) error {
	if len(bad) == 0 {
		return nil
	}
	for _, err := range bad {
		printError(inv.err, err)
	}
	return errNo
}
