package agents_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// TestEveryFormat checks that the table has an agent for each format of transcripts, and no other.
func TestEveryFormat(t *testing.T) {
	var formats, names []string
	for _, c := range all.Codecs() {
		if c.Records {
			formats = append(formats, c.Name)
		}
	}
	for _, a := range agents.All() {
		names = append(names, a.Name)
		if a.Program == "" || a.Home == nil || len(a.Files) == 0 {
			t.Errorf("%s says too little", a.Name)
		}
		if h := a.Hooks; len(h.Scopes) > 0 && (h.Files == nil || h.Entry == nil || len(h.Events) < 5 || len(h.Events) > 6) {
			t.Errorf("the hooks of %s say too little", a.Name)
		}
		for _, event := range a.Hooks.Events {
			if agents.KindOf(event) == agents.Other {
				t.Errorf("%s: the event %s has no kind", a.Name, event)
			}
		}
	}
	if slices.Sort(formats); !slices.Equal(names, formats) {
		t.Errorf("agents %q, sorted formats of transcripts %q", names, formats)
	}
}

// elsewhere are the places beside format/ and the table that may name an agent, and why.
var elsewhere = map[string]string{
	"git-domarkx/agents/opencodedb":  "it reads the databases of one agent",
	"git-domarkx/agents/database.go": "so does this",
	"git-domarkx/engine/importer":    "so does this",
	"git-domarkx/chat":               "a provider of models has the name of an agent",
	"git-domarkx/secrets/name.go":    "a name of ids is that of an agent, too",
	"git-domarkx/web/list.go":        "an example in a field to fill in",
	"git-domarkx/zeus":               "Zeus runs one agent",
	"git-domarkx/cmd_zeus.go":        "so does its terminal",
}

// TestNamedOnce checks what "A new agent" in CONTRIBUTING promises: beside its format and its file in this package, no code
// names an agent or imports its format, and no text lists agents.
func TestNamedOnce(t *testing.T) {
	var names, table []string
	for _, a := range agents.All() {
		names = append(names, a.Name)
		table = append(table, "git-domarkx/agents/"+strings.ReplaceAll(a.Name, "-", "")+".go")
	}
	words := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
	check := func(file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			_, format, _ := strings.Cut(text, "/domarkx/format/")
			mentioned := words.FindAllString(text, -1)
			slices.Sort(mentioned)
			if several := len(slices.Compact(mentioned)) > 2; slices.Contains(names, text) || several || slices.Contains(table, "git-domarkx/agents/"+format+".go") {
				t.Errorf("%s names an agent: %.60q; say it in git-domarkx/agents, once for each", file, text)
			}
			return true
		})
	}
	for _, top := range []string{"fusefs", "git-domarkx", "gitstore", "plugins"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(path string, d fs.DirEntry, err error) error {
			file := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
			_, may := elsewhere[file]
			switch {
			case err != nil:
				return err
			case may && d.IsDir():
				return fs.SkipDir
			case !may && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && !slices.Contains(table, file):
				check(file)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
