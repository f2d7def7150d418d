package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// basePrograms are the programs of a minimal Debian root with Go, Git, make and CA
// certificates. All others that tests use are in .ci/install-test-tools.
const basePrograms = `base64 
	git go make update-ca-certificates
	awk basename bash cat chgrp chmod chown chroot cksum cmp comm cp cut date dd df diff dirname
	du echo env expr false fgrep egrep find flock fmt grep groups gunzip gzip head hostname iconv id install
	join kill ln ls md5sum mkdir mkfifo mknod mktemp mount mv nice nl nohup nproc od paste perl
	pivot_root printf pwd readlink realpath rev rm rmdir sed seq setpriv setsid sh sha1sum sha256sum
	shuf sleep sort split stat stdbuf stty sum sync tac tail tar tee test timeout touch tr true
	truncate tsort tty umount uname uniq unlink unshare wc who whoami xargs yes`

// optionalPrograms are used only if they are installed: by tests that compare results
// with them, or by the program under test.
var optionalPrograms = map[string]string{
	"sudo": "tests that are not run as root",
	"node": "runnable blocks of its language",
	"ruby": "runnable blocks of its language",
}

// TestToolsAreInstalled compares the programs that tests and benchmarks run with the list
// that "make test" installs. It considers words in the place of a command, for a shell or
// os/exec, if they are installed on this machine; a missing program fails its own test.
func TestToolsAreInstalled(t *testing.T) {
	known := map[string]bool{"git-domarkx": true}
	for _, name := range strings.Fields(basePrograms) {
		known[name] = true
	}
	for name := range optionalPrograms {
		known[name] = true
	}
	for name := range installedPrograms(t) {
		known[name] = true
	}
	used := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "fuzz"):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, ".go") && strings.HasSuffix(filepath.Dir(path), "test"):
			return goPrograms(path, used)
		case strings.HasSuffix(path, ".txtar"):
			return scriptPrograms(path, used)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if used["strace"] == "" || used["setfattr"] == "" || used["restic"] == "" {
		t.Errorf("programs that are used were not found: %v", used)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if _, err := exec.LookPath(name); err == nil && !known[name] {
			t.Errorf("%s runs %s, which .ci/install-test-tools does not install", used[name], name)
		}
	}
}

// installedPrograms returns each PROGRAM of the PROGRAM:PACKAGE pairs in
// .ci/install-test-tools, and those that benchmarks install.
func installedPrograms(t *testing.T) map[string]bool {
	t.Helper()
	programs := map[string]bool{}
	for _, path := range []string{"../.ci/install-test-tools", "../Makefile"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range regexp.MustCompile(`[\s"]([A-Za-z][\w.-]*):[a-z][\w.-]*`).FindAllSubmatch(data, -1) {
			programs[string(pair[1])] = true
		}
	}
	return programs
}

// shellCommand matches the words of a shell script that are commands, and a few others.
var shellCommand = regexp.MustCompile("(?:^|[\\n;|&(`])\\s*(?:(?:!|if|then|elif|else|while|until|do|exec|command|[A-Za-z_]+=[^\\s;|&]*|timeout \\S+)\\s+)*([a-z][\\w.+-]*)")

func shellPrograms(script, path string, used map[string]string) {
	for _, m := range shellCommand.FindAllStringSubmatchIndex(script, -1) {
		if rest := script[m[3]:]; rest == "" || strings.ContainsAny(rest[:1], " \t\n;|&)`") {
			used[script[m[2]:m[3]]] = path
		}
	}
}

// goPrograms records the programs that a Go file runs.
func goPrograms(path string, used map[string]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	runs := []string{"Command", "CommandContext", "LookPath", "try", "must", "command", "needProgram", "requireProgram", "sh", "trySh", "run"}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || !slices.Contains(runs, calledName(call)) {
			return true
		}
		texts := stringArguments(call)
		shell := calledName(call) == "sh" || calledName(call) == "trySh"
		if len(texts) == 0 || calledName(call) == "run" && !isString(call.Args[0]) {
			return true
		}
		for i, text := range texts {
			if i > 0 && texts[i-1] == "-c" || shell {
				shellPrograms(text, path, used)
				continue
			}
			if text == "" {
				continue // the standard input of try and must
			}
			if !strings.Contains(text, "/") {
				used[text] = path
			}
			if calledName(call) != "needProgram" && text != "sh" && text != "bash" {
				break // the remaining strings are its arguments
			}
		}
		return true
	})
	return nil
}

func isString(arg ast.Expr) bool {
	lit, ok := arg.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// stringArguments returns the arguments of a call that are string literals or start with
// one.
func stringArguments(call *ast.CallExpr) []string {
	var texts []string
	for _, arg := range call.Args {
		for {
			sum, ok := arg.(*ast.BinaryExpr)
			if !ok {
				break
			}
			arg = sum.X
		}
		if isString(arg) {
			if text, err := strconv.Unquote(arg.(*ast.BasicLit).Value); err == nil {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// scriptPrograms records the programs that a script in testdata/script runs, including
// those of its embedded shell scripts.
func scriptPrograms(path string, used map[string]string) error {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if m := regexp.MustCompile(`\[!?has:([\w.+-]+)\]`).FindStringSubmatch(line); m != nil {
			used[m[1]] = path
		}
		if m := regexp.MustCompile(`^(?:\[.*\] )?(?:! )?(?:exec|exits \d+|let \w+|eventual) ([\w.+-]+)`).FindStringSubmatch(line); m != nil {
			used[m[1]] = path
		}
		for _, quoted := range regexp.MustCompile(`'((?:[^']|'')*)'`).FindAllStringSubmatch(line, -1) {
			if strings.Contains(line, "sh ") {
				shellPrograms(strings.ReplaceAll(quoted[1], "''", "'"), path, used)
			}
		}
	}
	for _, file := range archive.Files {
		if strings.HasPrefix(string(file.Data), "#!/bin/sh") || strings.HasPrefix(string(file.Data), "#!/bin/bash") {
			shellPrograms(string(file.Data), path, used)
		}
	}
	return nil
}
