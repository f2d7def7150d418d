package main

import (
	"slices"
	"strings"
	"testing"
)

func TestExpect(t *testing.T) {
	for line, want := range map[string]expectation{
		"":                              {kind: valueWord},
		"re":                            {kind: valueWord, typed: "re"},
		"-q show t":                     {kind: valueSession, typed: "t"},
		"nothing ":                      {},
		"show talk ":                    {before: "talk"},
		"diff a b":                      {kind: valueSession, typed: "b", before: "a"},
		"rename a b":                    {typed: "b", before: "a"},
		"fork a b":                      {typed: "b", before: "a"},
		"log --m":                       {kind: valueWord, typed: "--m"},
		"show -- -x":                    {kind: valueSession, typed: "-x"},
		"append --role a":               {kind: valueWord, typed: "a"},
		"append --role=a":               {kind: valueWord, prefix: "--role=", typed: "a"},
		"append -m ":                    {},
		"append -mtext t":               {kind: valueSession, typed: "t"},
		"append -m text t":              {kind: valueSession, typed: "t"},
		"export --format ":              {kind: valueWord},
		"export -o ":                    {kind: valueFile},
		"export --output=x":             {kind: valueFile, prefix: "--output=", typed: "x"},
		"man --write ":                  {kind: valueFolder},
		"import a ":                     {kind: valueFile, before: "a"},
		"mount ":                        {kind: valueFolder},
		"restore ":                      {kind: valueRemoved},
		"push ":                         {kind: valueRemote},
		"push origin a ":                {kind: valueSession, before: "a"},
		"pull origin a ":                {kind: valueFetched, before: "origin"},
		"workspace ":                    {kind: valueWord},
		"workspace log ":                {kind: valueWorkspace},
		"workspace path shop ":          {kind: valueResource, before: "shop"},
		"workspace attach talk ":        {kind: valueWorkspace, before: "talk"},
		"workspace checkout shop ":      {kind: valueFolder, before: "shop"},
		"exec talk shell run_command a": {typed: "a", before: "run_command"},
		"help workspace ":               {kind: valueWord, before: "workspace"},
		"completion ":                   {kind: valueWord},
		"zeus restore ":                 {kind: valueZeus},
	} {
		got := expect(model(t), strings.Split(line, " "))
		if got.kind == valueWord && len(got.words) == 0 {
			t.Errorf("%q: no words are offered", line)
		}
		got.words = nil
		if got.kind != want.kind || got.prefix != want.prefix || got.typed != want.typed || got.before != want.before {
			t.Errorf("%q: got %+v, want %+v", line, got, want)
		}
	}
}

func TestExpectWords(t *testing.T) {
	for line, want := range map[string]struct{ has, lacks string }{
		"":                 {"import", "__complete"},
		"workspace ":       {"attach", "import"},
		"help workspace ":  {"attach", "import"},
		"log --":           {"--messages", "--role"},
		"-":                {"--no-progress", "--messages"},
		"export --format ": {"agent-chatter", "xml"},
		"completion ":      {"fish", "tcsh"},
	} {
		var words []string
		for _, c := range expect(model(t), strings.Split(line, " ")).words {
			words = append(words, c.word)
		}
		if !slices.Contains(words, want.has) || slices.Contains(words, want.lacks) {
			t.Errorf("%q: offers %q, expected %q and not %q", line, words, want.has, want.lacks)
		}
	}
}
