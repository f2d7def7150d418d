package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// work is a session that can make a call, with its results.
const work = "```workspace-config\nresources:\n  - type: filesystem\n    id: files\n```\n\n## user\n\nWrite it.\n\n## assistant\n\n" +
	"```tool-call\n{\"resource\": \"files\", \"tool\": \"write_file\", \"arguments\": {\"path\": \"n.txt\", \"content\": \"text\"}}\n```\n"

// write writes a file below the repository.
func (p place) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// worked is a repository in which a session worked, with others and a remote.
func worked(t *testing.T) place {
	t.Helper()
	hub, p := newPlace(t, "--bare"), newPlace(t)
	t.Setenv("HOME", t.TempDir())
	p.git("remote", "add", "origin", hub.dir)
	p.write("work.md", work)
	p.run(0, "-q", "import", "work.md")
	p.run(0, "-q", "trust", "work")
	p.run(0, "-q", "run", "work")
	p.run(0, "-q", "append", "--new", "-m", "first words", "talk")
	p.run(0, "-q", "append", "-m", "more words", "talk")
	return p
}

// TestJSONMembers runs every command that prints results as JSON, and compares their members with the
// documented ones. Each prints one value, of the documented form.
func TestJSONMembers(t *testing.T) {
	p := worked(t)
	p.write("other.md", "## user\n\nIt was AKIAIOSFODNN7EXAMPLE then.\n")
	p.git("config", "domarkx.model", "m")
	p.git("config", "domarkx.model.m.provider", "openai")
	p.git("config", "user.name", "Ada")
	p.git("add", ".")
	p.git("commit", "-qm", "x")
	lines := []struct {
		line   string
		status int
	}{
		{"import --json --as other other.md", 0},
		{"list --json", 0},
		{"status --json", 0},
		{"search --json words", 0},
		{"show --json talk", 0},
		{"show --json work#1", 0},
		{"log --json talk", 0},
		{"log --json --messages talk", 0},
		{"blame --json other.md", 0},
		{"review --json", 0},
		{"usage --json", 0},
		{"size --json", 0},
		{"size --json --by session", 0},
		{"append --json -m x talk", 0},
		{"fork --json talk copy", 0},
		{"rename --json copy copied", 0},
		{"rm --json copied", 0},
		{"restore --json copied", 0},
		{"rewind --json talk#0", 0},
		{"trust --json work", 0},
		{"run --json work", 0},
		{"replay --json work", 0},
		{"checkout --json work " + filepath.Join(t.TempDir(), "out"), 0},
		{"workspace list --json", 0},
		{"workspace log --json work", 0},
		{"workspace show --json work", 0},
		{"workspace path --json work", 0},
		{"workspace attach --json talk work", 0},
		{"workspace checkout --json work " + filepath.Join(t.TempDir(), "out"), 0},
		{"model list --json", 0},
		{"plugin list --json", 0},
		{"agent list --json", 0},
		{"agent import --json", 0},
		{"agent uninstall --json claude-code", 0},
		{"zeus list --json", 0},
		{"scan --json", 1},
		{"push --json origin work", 0},
		{"fetch --json", 0},
		{"pull --json", 0},
		{"redact --json other", 0},
		{"fsck --json", 0},
		{"doctor --json", 0},
		{"gc --json", 0},
		{"version --json", 0},
		{"workspace rm --json work", 0},
	}
	documented := map[string]map[string]bool{}
	isList := map[string]bool{}
	for _, node := range commandsOf(model(t).Node) {
		printer, ok := node.Target.Addr().Interface().(resultPrinter)
		if !ok {
			continue
		}
		members := map[string]bool{}
		for _, item := range resultFields(printer) {
			members[item.Term] = true
		}
		verb := strings.TrimPrefix(node.Path(), "git-domarkx ")
		documented[verb] = members
		_, alternatives := printer.row().(rowAlternatives)
		isList[verb] = alternatives || reflect.TypeOf(printer.row()).Kind() == reflect.Slice
	}
	ran := map[string]bool{}
	for _, test := range lines {
		words := strings.Fields(test.line)
		verb := words[0]
		if documented[verb] == nil {
			verb += " " + words[1]
		}
		ran[verb] = true
		t.Run(test.line, func(t *testing.T) {
			p.t = t
			out, _ := p.run(test.status, words...)
			d := json.NewDecoder(strings.NewReader(out))
			var value any
			if err := d.Decode(&value); err != nil || d.More() || !strings.HasSuffix(out, "\n") {
				t.Fatalf("%v in %q", err, out)
			}
			rows, list := value.([]any)
			if list != isList[verb] {
				t.Fatalf("it prints %s", out)
			}
			if !list {
				rows = []any{value}
			}
			for _, row := range rows {
				for member := range row.(map[string]any) {
					if !documented[verb][member] {
						t.Errorf("the member %q is not documented", member)
					}
				}
			}
		})
	}
	p.t = t
	// Models, agents in terminals, an editor and processes that stay need more than this.
	elsewhere := []string{"chat", "model test", "zeus save", "zeus restore", "edit", "mount", "unmount", "agent install"}
	for verb := range documented {
		if !ran[verb] && !slices.Contains(elsewhere, verb) {
			t.Errorf("%s is not tested", verb)
		}
	}
}

// commandsOf returns the commands below a node that are not groups.
func commandsOf(node *kong.Node) (all []*kong.Node) {
	for _, child := range node.Children {
		if len(child.Children) == 0 {
			all = append(all, child)
		}
		all = append(all, commandsOf(child)...)
	}
	return all
}

// TestJSONOfNothing checks that a list of nothing is an empty array, not null or nothing at all.
func TestJSONOfNothing(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOME", t.TempDir())
	for line, status := range map[string]int{
		"list": 0, "status": 0, "usage": 0, "workspace list": 0, "model list": 0, "zeus list": 0, "scan": 0, "gc": 0, "fsck": 0, "agent import": 0, "search x": 1, "list none": 0, "list --tag x": 0,
	} {
		out, _ := p.run(status, append(strings.Fields(line), "--json")...)
		if strings.TrimSpace(out) != "[]" {
			t.Errorf("%s prints %q", line, out)
		}
	}
}
