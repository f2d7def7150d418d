//go:build linux

package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/external"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/process"
)

var (
	program = flag.String("program", "../example/git-domarkx-plugin-kv", "the plugin")
	suite   = flag.String("suite", "../example/suite.json", "what it is called with")
)

// TestMain runs the test binary as the supervisor of the program, as git-domarkx does.
func TestMain(m *testing.M) {
	if code, ok := process.Supervise(); ok {
		os.Exit(code)
	}
	plugintest.UsePython()
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	path, err := filepath.Abs(*program)
	if err != nil {
		t.Fatal(err)
	}
	kind, ok := strings.CutPrefix(filepath.Base(path), "git-domarkx-plugin-")
	if !ok {
		t.Fatalf("-program %s: expected the file git-domarkx-plugin-TYPE", *program)
	}
	data, err := os.ReadFile(*suite)
	if err != nil {
		t.Fatal(err)
	}
	said, err := jsonvalue.ParseValue(data)
	if err != nil {
		t.Fatalf("-suite %s: %v", *suite, err)
	}
	s := plugintest.Suite{Plugin: external.New(kind, path, external.Options{}), Config: jsonvalue.ObjectValue(), Refused: map[string]domarkx.Call{},
		Alive: func(dir string) bool { return alive(t, dir) }, Costly: 1}
	for _, m := range said.Members() {
		switch m.Name {
		case "config":
			s.Config = m.Value
		case "changes":
			for _, c := range m.Value.Items() {
				s.Changes = append(s.Changes, callOf(t, c))
			}
		case "read":
			s.Read = callOf(t, m.Value)
		case "refused":
			for _, c := range m.Value.Members() {
				s.Refused[c.Name] = callOf(t, c.Value)
			}
		case "invalid":
			s.Invalid = m.Value.Items()
		default:
			t.Fatalf("-suite %s: %q is no member of a suite", *suite, m.Name)
		}
	}
	if len(s.Changes) == 0 || s.Read.Tool == "" {
		t.Fatalf("-suite %s: expected changes and read", *suite)
	}
	plugintest.Run(t, s)
}

func callOf(t *testing.T, v jsonvalue.Value) domarkx.Call {
	t.Helper()
	tool, _ := v.Get("tool")
	arguments, ok := v.Get("arguments")
	if !ok || tool.Text() == "" {
		t.Fatalf("-suite %s: %s: expected {\"tool\": …, \"arguments\": …}", *suite, v.JSON())
	}
	return domarkx.Call{Tool: tool.Text(), Arguments: arguments}
}

// alive reports whether a process works in or below a directory.
func alive(t *testing.T, dir string) bool {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && (at == dir || strings.HasPrefix(at, dir+"/")) {
			t.Logf("%s is %s", link, at)
			return true
		}
	}
	return false
}
