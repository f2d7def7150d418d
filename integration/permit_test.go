package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// starters are the functions that something is executed with, by package and name, and the only files that use them. A
// directory stands for its files.
var starters = []struct {
	path    string   // of the package
	names   []string // of its functions; none for any use of the package by code that is no test
	files   []string
	because string
}{
	{module + "/plugins/permit", []string{"Issue"}, []string{"git-domarkx/engine/trust/gate.go", "plugins/plugintest"}, "Gate.Permit alone decides what is executed"},
	{module + "/plugins/all", nil, []string{"git-domarkx/workspaces.go"}, "resource types are used through the WorkspaceManager, which wants a permit"},
	{"os/exec", []string{"Command", "CommandContext", "Cmd"}, []string{"gitstore/gitcmd", "plugins/process", "plugins/postgres", "plugins/docker_sandbox/dockertest", "plugins/plugintest",
		"fusefs/mountpoint", "git-domarkx/foreground.go", "git-domarkx/pager.go", "git-domarkx/zeus", "git-domarkx/background", "git-domarkx/mountd", "git-domarkx/agents/recording", "git-domarkx/agents/versions.go",
		"git-domarkx/engine/enginetest", "git-domarkx/chat/provider/llamatest", "git-domarkx/find/usage/prices/generate.go"}, "programs are started in few places"},
	{"os", []string{"StartProcess"}, nil, "os/exec starts programs"},
	{"syscall", []string{"Exec", "ForkExec", "StartProcess"}, []string{"plugins/process", "plugins/docker_sandbox/agent"}, "only what confines commands starts them itself"},
	{"golang.org/x/sys/unix", []string{"Exec"}, nil, "only what confines commands starts them itself"},
}

// TestNothingRunsWithoutAPermit checks that only the gate issues permits, and that programs are started only where the
// list says so.
func TestNothingRunsWithoutAPermit(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || len(e.Name()) > 2 && e.Name()[0] == '.') {
			return filepath.SkipDir
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "integration/") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, problem := range startedIn(name, file, used) {
			t.Error(problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range starters {
		for _, f := range s.files {
			if !used[s.path+" "+f] {
				t.Errorf("%s does not use %s any more: remove it from the list", f, s.path)
			}
		}
	}
}

// TestWaysRoundTheGate feeds code that goes round the gate to the check, which has to notice it.
func TestWaysRoundTheGate(t *testing.T) {
	for _, source := range []string{
		`import "` + module + `/plugins/permit"; var p = permit.Issue("s", permit.What{}, permit.Trusted, permit.Shared)`,
		`import free "` + module + `/plugins/permit"; var f = free.Issue`,
		`import . "` + module + `/plugins/permit"`,
		`import "` + module + `/plugins/all"; var types = all.BuiltIn`,
		`import "os/exec"; var cmd = exec.Command("sh")`,
		`import "os/exec"; var cmd = &exec.Cmd{Path: "sh"}`,
		`import "os"; var start = os.StartProcess`,
		`import "syscall"; var start = syscall.ForkExec`,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if len(startedIn("git-domarkx/engine/turns/x.go", file, map[string]bool{})) == 0 {
			t.Errorf("not noticed: %s", source)
		}
	}
}

// startedIn returns the programs that a file starts although the list does not name it, and notes the entries of the list that it uses.
func startedIn(name string, file *ast.File, used map[string]bool) (problems []string) {
	for _, s := range starters {
		found := usesIn(file, s.path, s.names)
		if len(found) == 0 {
			continue
		}
		i := slices.IndexFunc(s.files, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
		if i < 0 {
			problems = append(problems, name+" uses "+s.path+" "+strings.Join(found, ", ")+": "+s.because)
			continue
		}
		used[s.path+" "+s.files[i]] = true
	}
	return problems
}

// usesIn returns which names of a package a file uses; all that stands for the package, if names is nil.
func usesIn(file *ast.File, path string, names []string) (found []string) {
	local := ""
	for _, i := range file.Imports {
		if p, _ := strconv.Unquote(i.Path.Value); p != path {
			continue
		}
		if local = path[strings.LastIndexByte(path, '/')+1:]; i.Name != nil {
			local = i.Name.Name
		}
		if names == nil || local == "." {
			return []string{"import"}
		}
	}
	if local == "" {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				found = append(found, s.Sel.Name)
			}
		}
		return true
	})
	return found
}
