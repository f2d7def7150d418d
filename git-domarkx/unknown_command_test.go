package main

import (
	"strings"
	"testing"
)

func TestSuggestions(t *testing.T) {
	root := model(t).Node
	for typed, want := range map[string]string{
		"lst": `"list"`, "lits": `"list"`, "improt": `"import"`, "stauts": `"status"`, "shw": `"show"`,
		"check": `"checkout"`, "vers": `"version"`, "remove": "", "r": `"review" or "rename" or "restore"`,
		"rn": `"run"`, "gcc": "", "rmm": "", "__complete": "", "": "",
	} {
		_, got, _ := strings.Cut(notACommand(root, typed).Error(), "; did you mean ")
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: suggests %q, want %q", typed, got, want)
		}
		for _, never := range neverSuggested {
			if strings.Contains(got, `"`+never+`"`) {
				t.Errorf("%q: suggests %s", typed, never)
			}
		}
	}
}

func TestOtherWords(t *testing.T) {
	root := model(t).Node
	commands := map[string]bool{}
	for _, child := range root.Children {
		commands[child.Name] = true
	}
	for typed, other := range otherWords {
		if got := notACommand(root, typed).Error(); commands[typed] || !strings.HasSuffix(got, "; use "+other) {
			t.Errorf("%q: %s", typed, got)
		}
		for i, quoted := range strings.Split(other, `"`) {
			if name, _, _ := strings.Cut(quoted, " "); i%2 == 1 && !commands[name] {
				t.Errorf("%q: %q is not a command", typed, name)
			}
		}
	}
}
