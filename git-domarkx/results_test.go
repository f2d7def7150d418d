package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// printsText lists the commands that print a document, a diff, a script or help, or that
// print nothing.
var printsText = []string{"diff", "export", "validate", "exec", "mcp", "agent resume", "agent watch", "agent hook", "agent pause", "workspace diff", "completion", "man", "help", "web"}

// TestResultFields requires a --json option for every command that prints results, and a
// snake_case name and a description for every field.
func TestResultFields(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)
	checked := 0
	for _, leaf := range model(t).Leaves(true) {
		if leaf.Hidden || slices.Contains(printsText, clidoc.VerbOf(leaf)) {
			continue
		}
		printer, ok := leaf.Target.Addr().Interface().(resultPrinter)
		if !ok || !slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) {
			t.Errorf("%s prints results without --json", clidoc.VerbOf(leaf))
			continue
		}
		if rows := reflect.TypeOf(printer.row()); rows.Kind() == reflect.Slice && rows.Elem().Kind() == reflect.Struct {
			inPipes := slices.DeleteFunc(columnsOf(rows.Elem()), func(f reflect.StructField) bool { return shapes([]reflect.StructField{f})[0].person })
			columns := strings.Join(heads(inPipes), "  ")
			if !strings.Contains(leaf.Detail, "\n    "+columns+"\n") {
				t.Errorf("%s: the help does not show the columns %q", clidoc.VerbOf(leaf), columns)
			}
		}
		for _, f := range resultItems(printer.row()) {
			checked++
			if last := f.Term[strings.LastIndexByte(f.Term, '.')+1:]; last == "message" && !strings.HasPrefix(f.Text, "the id of the message") {
				t.Errorf("%s: member %q holds %q and not the id of a message", clidoc.VerbOf(leaf), f.Term, f.Text)
			}
			if !snake.MatchString(f.Term) && f.Term != "tools.inputSchema" || f.Text == "" {
				t.Errorf("%s: member %q, described as %q", clidoc.VerbOf(leaf), f.Term, f.Text)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d members were checked", checked)
	}
}
