package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// streams is a program that appends its name and which of its streams are the terminal to the file $STREAMS.
const streams = `#!/bin/sh
[ "$1" = --version ] && exec echo 1.0.0
for n in 0 1 2; do [ -t $n ] && seen="$seen $n"; done
echo "${0##*/}$seen" >>"$STREAMS"
[ -t 0 ] || exec cat
`

// TestForegroundPrograms checks that programs that the user works in have the terminal as their streams. Agents refuse to start
// otherwise. A pager reads the output of this program.
func TestForegroundPrograms(t *testing.T) {
	p := worked(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("STREAMS", filepath.Join(bin, "streams"))
	for _, program := range []string{"claude", "codex", "gemini", "qwen", "copilot", "an-editor", "a-pager", "a-browser"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte(streams), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	p.write(filepath.Join("home", ".gemini", "projects.json"), fmt.Sprintf(`{"projects": {%q: "here"}}`, p.dir))
	t.Setenv("HOME", filepath.Join(p.dir, "home"))
	t.Setenv("GIT_EDITOR", "an-editor")
	t.Setenv("GIT_PAGER", "a-pager")
	for line, want := range map[string]string{
		"agent resume --in claude-code talk": "claude 0 1 2",
		"agent resume --in codex talk":       "codex 0 1 2",
		"agent resume --in gemini talk":      "gemini 0 1 2",
		"agent resume --in qwen talk":        "qwen 0 1 2",
		"agent resume --in copilot talk":     "copilot 0 1 2",
		"edit talk":                          "an-editor 0 1 2",
		"log talk":                           "a-pager 1 2",
	} {
		t.Run(line, func(t *testing.T) {
			p.t = t
			if status, shown := p.onSized(rows(2), []reply{}, strings.Fields(line)...); status != 0 {
				t.Errorf("status %d, expected 0:\n%s", status, shown)
			}
			p.started(want)
		})
	}
	t.Run("web --open", func(t *testing.T) {
		p.t = t
		screen, program := terminal(t)
		defer screen.Close()
		inv := newInvocation(t.Context(), func(name string) string {
			if name == "BROWSER" {
				return "a-browser"
			}
			return os.Getenv(name)
		}, stdio{program, program, program}, &globals{}, nil)
		remove, err := inv.openInBrowser("http://127.0.0.1:1/")
		defer remove()
		if err != nil {
			t.Fatal(err)
		}
		p.started("a-browser 0 1 2")
	})
}

// started waits for the line that a program of streams appends, and removes it.
func (p place) started(want string) {
	p.t.Helper()
	path := os.Getenv("STREAMS")
	got, err := os.ReadFile(path)
	for range 500 { // a browser is not waited for
		if err == nil && len(got) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		got, err = os.ReadFile(path)
	}
	if err != nil || string(got) != want+"\n" {
		p.t.Errorf("%q, %v; expected %q", got, err, want)
	}
	if err := os.Remove(path); err != nil {
		p.t.Error(err)
	}
}

// TestForegroundIsTheOnlyPlace finds commands that are given streams elsewhere, where they could get
// a pipe in place of the terminal.
func TestForegroundIsTheOnlyPlace(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if path == "foreground.go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			assigned, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, left := range assigned.Lhs {
				if s, ok := left.(*ast.SelectorExpr); ok && (s.Sel.Name == "Stdout" || s.Sel.Name == "Stderr") {
					t.Errorf("%s sets %s of a command; foreground does", files.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}
