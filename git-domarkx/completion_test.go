package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

func TestExpect(t *testing.T) {
	for line, want := range map[string]clidoc.Expectation{
		"":                              {Kind: clidoc.ValueWord},
		"re":                            {Kind: clidoc.ValueWord, Typed: "re"},
		"-q show t":                     {Kind: clidoc.ValueSession, Typed: "t"},
		"nothing ":                      {},
		"show talk ":                    {Before: "talk"},
		"diff a b":                      {Kind: clidoc.ValueSession, Typed: "b", Before: "a"},
		"rename a b":                    {Typed: "b", Before: "a"},
		"fork a b":                      {Typed: "b", Before: "a"},
		"log --m":                       {Kind: clidoc.ValueWord, Typed: "--m"},
		"show -- -x":                    {Kind: clidoc.ValueSession, Typed: "-x"},
		"append --role a":               {Kind: clidoc.ValueWord, Typed: "a"},
		"append --role=a":               {Kind: clidoc.ValueWord, Prefix: "--role=", Typed: "a"},
		"append -m ":                    {},
		"append -mtext t":               {Kind: clidoc.ValueSession, Typed: "t"},
		"append -m text t":              {Kind: clidoc.ValueSession, Typed: "t"},
		"export --format ":              {Kind: clidoc.ValueWord},
		"export -o ":                    {Kind: clidoc.ValueFile},
		"export --output=x":             {Kind: clidoc.ValueFile, Prefix: "--output=", Typed: "x"},
		"man --write ":                  {Kind: clidoc.ValueDirectory},
		"import a ":                     {Kind: clidoc.ValueFile, Before: "a"},
		"mount ":                        {Kind: clidoc.ValueDirectory},
		"restore ":                      {Kind: clidoc.ValueRemoved},
		"push ":                         {Kind: clidoc.ValueRemote},
		"push origin a ":                {Kind: clidoc.ValueSession, Before: "a"},
		"pull origin a ":                {Kind: clidoc.ValueFetched, Before: "origin"},
		"workspace ":                    {Kind: clidoc.ValueWord},
		"workspace log ":                {Kind: clidoc.ValueWorkspace},
		"workspace path shop ":          {Kind: clidoc.ValueResource, Before: "shop"},
		"workspace attach talk ":        {Kind: clidoc.ValueWorkspace, Before: "talk"},
		"workspace checkout shop ":      {Kind: clidoc.ValueDirectory, Before: "shop"},
		"exec talk shell run_command a": {Typed: "a", Before: "run_command"},
		"help workspace ":               {Kind: clidoc.ValueWord, Before: "workspace"},
		"completion ":                   {Kind: clidoc.ValueWord},
		"zeus restore ":                 {Kind: clidoc.ValueZeus},
	} {
		got := clidoc.Expect(model(t), strings.Split(line, " "))
		if got.Kind == clidoc.ValueWord && len(got.Words) == 0 {
			t.Errorf("%q: no words are offered", line)
		}
		got.Words = nil
		if got.Kind != want.Kind || got.Prefix != want.Prefix || got.Typed != want.Typed || got.Before != want.Before {
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
		for _, c := range clidoc.Expect(model(t), strings.Split(line, " ")).Words {
			words = append(words, c.Word)
		}
		if !slices.Contains(words, want.has) || slices.Contains(words, want.lacks) {
			t.Errorf("%q: offers %q, expected %q and not %q", line, words, want.has, want.lacks)
		}
	}
}
