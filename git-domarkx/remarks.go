package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

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
