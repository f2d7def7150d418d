package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Limits of what a reader has to keep in mind at once.
const (
	maxFields  = 14 // of a struct; embedded parts count as one
	maxLines   = 80 // of a function
	maxMethods = 6  // of an interface
)

// maxSource is the number of lines of source without tests. Each new line has to earn its place: remove what a change makes
// needless, and raise the limit only with a reason.
const maxSource = 150_000

// TestDocumentsStayShort: a visitor reads the README, the map and the decisions to the end.
func TestDocumentsStayShort(t *testing.T) {
	count := func(document, pattern string) int {
		text, err := os.ReadFile(filepath.Join("..", document))
		if err != nil {
			t.Fatal(err)
		}
		return len(regexp.MustCompile(pattern).FindAll(text, -1))
	}
	for _, d := range []struct {
		document, what, pattern string
		most                    int
	}{
		{"README.md", "words", `\S+`, 900},
		{"DESIGN.md", "decisions", `(?m)^\*\*`, 30},
		{"CONTRIBUTING.md", "rows of the map", "(?m)^\\| `.*` \\| ", 30},
	} {
		if n := count(d.document, d.pattern); n == 0 || n > d.most {
			t.Errorf("%s has %d %s, at most %d", d.document, n, d.what, d.most)
		}
	}
}

// patterns lists the files that may call filepath.Glob, and why. A path of a user's directory may contain the characters of
// patterns; package glob finds files below it.
var patterns = map[string]string{
	"git-domarkx/zeus/kitty.go":         "the address of the terminal is a pattern",
	"plugins/postgres/dump.go":          "the places of programs are constants",
	"plugins/docker_sandbox/program.go": "the directories of libraries are constants",
}

// TestHouse checks that each package says what it is for, the sizes of declarations and of all source, and that no file looks for files
// by a pattern in which the user's directory stands.
func TestHouse(t *testing.T) {
	root, found, total := "..", map[string]bool{}, 0
	documented := map[string]bool{} // directories with source, and whether their package has a comment
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		source, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		total += set.File(source.FileStart).LineCount()
		documented[path.Dir(name)] = documented[path.Dir(name)] || source.Doc != nil
		forTests := strings.HasSuffix(path.Dir(name), "test")
		ast.Inspect(source, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType:
				if fields := n.Fields.NumFields(); fields > maxFields {
					t.Errorf("%s: a struct has %d fields; at most %d, name its parts", set.Position(n.Pos()), fields, maxFields)
				}
			case *ast.InterfaceType:
				methods := 0
				for _, m := range n.Methods.List {
					methods += len(m.Names) // none for embedded ones
				}
				if methods > maxMethods {
					t.Errorf("%s: an interface has %d methods; at most %d", set.Position(n.Pos()), methods, maxMethods)
				}
			case *ast.FuncDecl:
				if lines := set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1; lines > maxLines {
					t.Errorf("%s: %s has %d lines; at most %d", set.Position(n.Pos()), n.Name.Name, lines, maxLines)
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "filepath" && n.Sel.Name == "Glob" && !forTests {
					if found[name] = true; patterns[name] == "" {
						t.Errorf("%s: filepath.Glob takes the path of a directory for a pattern; use package glob", set.Position(n.Pos()))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total == 0 || total > maxSource {
		t.Errorf("the source has %d lines, at most %d", total, maxSource)
	}
	for dir, has := range documented {
		if !has {
			t.Errorf("%s: no file has a comment that says what the package is for", dir)
		}
	}
	for name := range patterns {
		if !found[name] {
			t.Errorf("%s no longer calls filepath.Glob; remove it from the list", name)
		}
	}
}
