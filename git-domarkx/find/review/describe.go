package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/html"
)

// Describe says on one line who wrote lines, when, and the prompt.
func Describe(a Author) string {
	parts := []string{who(a), strings.TrimSpace(a.Agent + " " + a.Model), Minute(a.Date), html.Count(a.Lines, "line"), a.Prompt}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// who names an author: SESSION#K, a person or unknown.
func who(a Author) string {
	switch {
	case a.Source == Model && a.Index != nil:
		return a.Session + "#" + strconv.Itoa(*a.Index)
	case a.Source == Model:
		return a.Session + " (a message that it no longer has)"
	case a.Source == Person && a.Commit != "":
		return fmt.Sprintf("a person (%s in %.10s)", a.Name, a.Commit)
	case a.Source == Person:
		return "a person"
	}
	return "unknown"
}

// Summary says how many lines were changed, by whom.
func Summary(l Lines) string {
	return fmt.Sprintf("%s added (%d by models, %d by persons, %d unknown), %d removed", html.Count(l.Added, "line"), l.Model, l.Person, l.Unknown, l.Removed)
}

// FileSummary describes the change of a file.
func FileSummary(f *File) string { return fileSummary(f, true) }

// fileSummary is like [FileSummary], but leaves out absent parts unless all is set.
func fileSummary(f *File, all bool) string {
	switch {
	case f.Binary:
		return f.Status + ", binary"
	case f.Submodule:
		return f.Status + ", submodule"
	}
	var by []string
	for _, part := range []struct {
		n    int
		what string
	}{{f.Lines.Model, "by models"}, {f.Lines.Person, "by persons"}, {f.Lines.Unknown, "unknown"}} {
		if all || part.n > 0 {
			by = append(by, strconv.Itoa(part.n)+" "+part.what)
		}
	}
	text := fmt.Sprintf("+%d -%d", f.Lines.Added, f.Lines.Removed)
	if len(by) > 0 {
		text += " (" + strings.Join(by, ", ") + ")"
	}
	return text
}

// Missing returns the names of the sessions that the remote does not have, or only in part.
func Missing(r *Review) (names []string) {
	for _, s := range r.Sessions {
		if r.Remote != "" && !s.OnRemote && !s.Gone {
			names = append(names, s.Name)
		}
	}
	return names
}

// Exit says how a command ended.
func Exit(c Command) string {
	if c.Exit != nil {
		return "exit " + strconv.Itoa(*c.Exit)
	}
	return c.Status
}

// Minute returns a time in RFC 3339 to the minute.
func Minute(date string) string {
	if len(date) < 16 {
		return date
	}
	return date[:10] + " " + date[11:16]
}
