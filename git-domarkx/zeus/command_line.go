package zeus

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// words splits a command line into words. It also splits each argument, because an
// argument can itself be a shell command.
func words(commandLine []string) []string {
	var all []string
	for _, argument := range commandLine {
		all = append(all, shellWords(argument)...)
	}
	return all
}

// shellWords splits text into words as a shell does, but expands nothing. An unterminated
// quote extends to the end of the text.
func shellWords(text string) []string {
	var all []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			if begun {
				all = append(all, word.String())
				word.Reset()
			}
			begun = false
		case '\'', '"':
			begun = true
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\\"$`", text[i+1]) >= 0 {
					i++
				}
				word.WriteByte(text[i])
			}
		case '\\':
			if i++; i < len(text) {
				word.WriteByte(text[i])
			}
			begun = true
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

var piWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)pi(?:\s|$)`) })

// showsPi reports whether a window runs pi. Like Zeus, it checks the window's command
// line and title.
func showsPi(commandLine []string, title string) bool {
	for _, word := range words(commandLine) {
		if path.Base(word) == "pi" {
			return true
		}
	}
	return piWord().MatchString(strings.ToLower(strings.Join(commandLine, " "))) || strings.HasPrefix(strings.TrimSpace(title), "π")
}

// sessionIn returns the session that a command line names with --session, or "" if it
// names none.
func sessionIn(commandLine []string) string {
	all := words(commandLine)
	for i, word := range all {
		if value, ok := strings.CutPrefix(word, "--session="); ok {
			return value
		}
		if word == "--session" && i+1 < len(all) {
			return all[i+1]
		}
	}
	return ""
}
