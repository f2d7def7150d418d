package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// hintNoSessions prints on standard error how to get the first sessions: from a remote, or
// by importing a document. It contacts no remote.
func (inv *invocation) hintNoSessions(opened managers) {
	remotes, err := inv.remotes()
	if err != nil {
		return
	}
	for _, name := range remotes {
		tips, err := opened.remotes.Tracked(inv.ctx, name)
		if err == nil && len(tips.Sessions) > 0 {
			inv.say("There are no sessions here. The remote %s has %s; to get them: git domarkx pull %s", name, counted(len(tips.Sessions), "session"), name)
			return
		}
	}
	if len(remotes) == 0 {
		inv.say("There are no sessions here. To make one of a document: git domarkx import FILE")
		return
	}
	name := remotes[0]
	if configured, err := remote.Find(inv.ctx, inv.repository, ""); err == nil {
		name = configured.Name
	}
	inv.say("There are no sessions here. To get those of the remote %s, if it has any: git domarkx pull %s", name, name)
}

// say prints a message for the user, unless --quiet is set.
func (inv *invocation) say(format string, args ...any) {
	if !inv.opts.Quiet {
		fmt.Fprintln(inv.err, visible(fmt.Sprintf(format, args...)))
	}
}

// allIsWell prints on a terminal that a command found nothing to report, or its result.
func (inv *invocation) allIsWell(text string) {
	if inv.out.tty {
		inv.say("%s", text)
	}
}

// counted returns a number and a noun, such as "5,000 sessions".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return grouped(n) + " " + thing
}

// grouped returns a number such as "5,000".
func grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// mentionExpired says which versions that a session's messages link have no files any more.
func (inv *invocation) mentionExpired(sessions *engine.SessionManager, r engine.Revision) error {
	found, err := sessions.ExpiredLinks(inv.ctx, r)
	if err != nil || len(found) == 0 {
		return err
	}
	numbers := slices.Sorted(maps.Keys(found))
	last := numbers[len(numbers)-1]
	if len(numbers) > 1 {
		inv.say("#%d and %s before it link versions without files:", last, html.Count(len(numbers)-1, "message"))
	} else {
		inv.say("#%d links a version without files:", last)
	}
	inv.say("%v", found[last])
	return nil
}

// printWarnings prints problems with input that was accepted nevertheless: a line for each kind, with the first one and how many
// more there are.
func printWarnings(w io.Writer, warnings []error) {
	type kind struct {
		first error
		count int
	}
	var kinds []*kind
	known := map[string]*kind{}
	for _, err := range warnings {
		name := kindOfWarning(err)
		if known[name] == nil {
			known[name] = &kind{first: err}
			kinds = append(kinds, known[name])
		}
		known[name].count++
		if repeated, ok := errors.AsType[*importer.Repeated](err); ok {
			known[name].count += repeated.Count - 1
		}
	}
	for _, k := range kinds {
		more := ""
		if k.count > 1 {
			more = fmt.Sprintf(" (and %s more like it)", grouped(k.count-1))
		}
		printWarning(w, k.first, more)
	}
}

// quotedText matches a quoted part of a message.
var quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// kindOfWarning returns the words of a warning without what differs between warnings of a kind: quoted texts, numbers and paths.
func kindOfWarning(err error) string {
	text := err.Error()
	if syntax, ok := errors.AsType[*syntax.Error](err); ok {
		text = syntax.Msg
	}
	var words []string
	for word := range strings.FieldsSeq(quotedText().ReplaceAllString(text, "")) {
		if word = strings.Trim(word, ".,:;()"); !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
			words = append(words, word)
		}
	}
	return cmp.Or(strings.Join(words, " "), text)
}

// printWarning prints a problem with input that was accepted nevertheless, and more about it.
func printWarning(w io.Writer, err error, more string) {
	syntax, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		printError(w, fmt.Errorf("warning: %w%s", err, more))
		return
	}
	warning := *syntax
	if warning.Pointer != "" {
		warning.Msg = warning.Pointer + ": " + warning.Msg
	}
	warning.Pointer, warning.Msg = "", "warning: "+warning.Msg+more
	printError(w, &warning)
}
