package review

import (
	"fmt"
	"strconv"
	"strings"
)

// Describe says on one line who wrote lines, when, and what was asked for.
func Describe(a Author) string {
	var parts []string
	switch a.Source {
	case Model:
		who := a.Session
		if a.Message != nil {
			who += "#" + strconv.Itoa(*a.Message)
		} else {
			who += " (a message that it no longer has)"
		}
		parts = append(parts, who)
		if by := strings.TrimSpace(a.Agent + " " + a.Model); by != "" {
			parts = append(parts, by)
		}
	case Person:
		who := "a person"
		if a.Commit != "" {
			who = fmt.Sprintf("a person (%s in %.10s)", a.Name, a.Commit)
		}
		parts = append(parts, who)
	default:
		parts = append(parts, "unknown")
	}
	if len(a.Date) >= 16 {
		parts = append(parts, a.Date[:10]+" "+a.Date[11:16])
	}
	parts = append(parts, Count(a.Lines, "line"))
	if a.Prompt != "" {
		parts = append(parts, a.Prompt)
	}
	return strings.Join(parts, " · ")
}

// Count returns a number with a noun.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
