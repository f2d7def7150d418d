package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

type importCmd struct {
	rowsOption[importRow]
	As     string       `placeholder:"NAME" help:"The session's name, when one document is imported; of several, that of standard input."`
	Format string       `placeholder:"F" help:"The documents' format: md, json, agent-chatter, zeus, openpocket, or an agent (${agents}). Recognised by content unless given."`
	Links  optionalFlag `placeholder:"[=WS]" help:"Link messages to the workspace versions that the documents state, where the session's workspace, or WS, has them."`
	Attach []string     `placeholder:"PATH" sep:"none" help:"Keep this file with the session, by its path below the document's directory. Can be given several times, for one document."`
	Paths  []string     `arg:"" name:"PATH" help:"A file, a directory, or - for standard input, which needs --as."`
}

func (c *importCmd) prepare(*invocation) error {
	if c.Format != "" {
		if err := checkFormat(c.Format); err != nil {
			return err
		}
	}
	info, err := os.Stat(c.Paths[0])
	isFolder := err == nil && info.IsDir()
	switch hasInput := slices.Contains(c.Paths, "-"); {
	case hasInput && c.As == "":
		return usagef("standard input has no name; give it one with --as NAME")
	case hasInput || c.As == "":
	case len(c.Paths) > 1:
		return usagef("--as names one document, not %d; import them one by one", len(c.Paths))
	case isFolder:
		return usagef("--as names one document, and %q is a directory", c.Paths[0])
	}
	if len(c.Attach) > 0 && (len(c.Paths) > 1 || isFolder) {
		return usagef("--attach adds files to one document; name that alone")
	}
	return nil
}

func (c *importCmd) Run(inv *invocation, opened managers) error {
	return inv.importDocuments(opened, importer.Request{Paths: c.Paths, As: c.As, Format: c.Format, Stdin: stdin{inv},
		Links: c.Links.given, LinksOf: c.Links.value, Attach: c.Attach}, c.JSON)
}

// importMemory is the size of the heap in bytes from which an import collects garbage more
// often. If a large document needs more, importDocuments removes this limit.
const importMemory = 256 << 20

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
	return inv.bad(result.Bad...)
}

// boundMemory limits the memory of a command that may read many whole sessions.
func (inv *invocation) boundMemory(opened managers) {
	opened.store.BoundMemory(packMemory)
	setGCPercent(inv.getenv, 100)
}

// packMemory is how many bytes of packs may stay in memory while whole sessions are processed.
const packMemory = 32 << 20

type importRow struct {
	sessionRow
	Messages int `json:"messages" head:"MESSAGES" doc:"how many messages the session has"`
}

func printImport(inv *invocation, asJSON bool, result importer.Result) error {
	list := make([]importRow, 0, len(result.Sessions))
	changed := 0
	for _, s := range result.Sessions {
		if s.Changed {
			changed++
		}
		if s.Changed || asJSON || !inv.out.tty {
			list = append(list, importRow{sessionRow{s.Name, oidField(s.ID)}, s.Messages})
		}
	}
	if err := printResults(inv, asJSON, list); err != nil {
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
		inv.say("%s: attached %s (%d bytes)%s", first.Session, visibleLine(first.Path), first.Size, more)
	}
	for _, k := range result.Kept {
		inv.say("%s: its files were stored as version %s of the workspace %s", visibleLine(k.Directory), k.Version.ID[:12], k.Version.Workspace)
	}
	repeated := len(result.Sessions) > 0 && changed == 0
	if result.Empty > 0 && !repeated {
		inv.say("transcripts without a message that were skipped: %d", result.Empty)
	}
	if result.Others > 0 && !repeated {
		inv.say("%s not recognised as a session, and skipped; to import one anyway, name it", counted(result.Others, "other file"))
	}
	if n := len(result.Sessions); (n > 1 || repeated) && !asJSON {
		inv.allIsWell(fmt.Sprintf("import: %s, %s new or changed", counted(n, "session"), grouped(changed)))
	}
	return nil
}

// bad prints errors in the input, one per line. It returns errNo, or nil if there are none.
func (inv *invocation) bad(errs ...error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	printError(inv.err, err)
	return errNo
}
