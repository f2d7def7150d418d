package main

import (
	"strings"
	"testing"
)

func TestSuggestions(t *testing.T) {
	root := model(t).Node
	for typed, want := range map[string]string{
		"ls": `"list"`, "lst": `"list"`, "lits": `"list"`, "improt": `"import"`, "stauts": `"status"`, "shw": `"show"`,
		"check": `"checkout"`, "vers": `"version"`, "remove": "", "delete": "", "r": `"rename" or "restore" or "rewind"`,
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
