package project_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
)

const full = `# what all sessions of this project work in
[[resources]]
type = "local_shell" # first
path = "."
exclude = ["node_modules/", "*.o"]

[resources.env]
LEVEL = "3"

[[resources]]
id = "db"
type = "postgres"

[plugins.docker_sandbox]
image = 'golang:1.26'
cpus = 1.5
memory = 1_000_000_000
env.CGO_ENABLED = false
mounts = [
  { source = "/data", target = "/data" }, # one
]

[plugins."my-type"]
"a/b~c\u0041" = """
x
"""
`

func TestParse(t *testing.T) {
	c, err := project.Parse([]byte("\ufeff" + full))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Resources {
		got = append(got, r.JSON())
	}
	for _, d := range c.Plugins {
		got = append(got, d.Type+" "+d.Config.JSON())
	}
	want := []string{
		`{"type":"local_shell","path":".","exclude":["node_modules/","*.o"],"env":{"LEVEL":"3"}}`,
		`{"id":"db","type":"postgres"}`,
		`docker_sandbox {"image":"golang:1.26","cpus":1.5,"memory":1000000000,"env":{"CGO_ENABLED":false},"mounts":[{"source":"/data","target":"/data"}]}`,
		`my-type {"a/b~cA":"x\n"}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := c.Defaults("docker_sandbox").JSON(); !strings.HasPrefix(got, `{"image"`) {
		t.Errorf("defaults are %s", got)
	}
	if got := c.Defaults("sqlite").JSON(); got != "{}" {
		t.Errorf("defaults of a type without any are %s", got)
	}
}

// TestPlaces: errors have the position of their key, also in one of several tables with the same
// name.
func TestPlaces(t *testing.T) {
	c, err := project.Parse([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"":                                   "1:1: ",
		"/resources":                         "2:1: resources: ",
		"/resources/0/type":                  "3:1: resources[0].type: ",
		"/resources/0/exclude/1":             "5:29: resources[0].exclude[1]: ",
		"/resources/0/env/LEVEL":             "8:1: resources[0].env.LEVEL: ",
		"/resources/1":                       "10:1: resources[1]: ",
		"/resources/1/type":                  "12:1: resources[1].type: ",
		"/resources/1/dsn":                   "10:1: resources[1].dsn: ",
		"/plugins/docker_sandbox":            "14:10: plugins.docker_sandbox: ",
		"/plugins/docker_sandbox/env":        "18:1: plugins.docker_sandbox.env: ",
		"/plugins/docker_sandbox/mounts/0":   "20:3: plugins.docker_sandbox.mounts[0]: ",
		"/plugins/docker_sandbox/mounts/0/x": "20:3: plugins.docker_sandbox.mounts[0].x: ",
		"/plugins/my-type/a~1b~0cA":          `24:1: plugins.my-type."a/b~cA": `,
	} {
		err := c.Error(pointer, "is wrong", domarkx.ErrNotFound)
		if got := err.Error(); got != project.File+":"+want+"is wrong" || !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%q: %s, want at %s", pointer, got, want)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"# nothing\n":                         "",
		"[plugins]\n":                         "",
		"resources = [{type = \"sqlite\"}]":   "",
		"sandbox = false":                     "1:1: sandbox: is no key of this file, expected model, plugins or resources",
		"\n[tool.gpt]\nname = 'x'":            "2:2: tool: is no key of this file",
		"[[Resources]]\ntype = 'sqlite'":      "1:1: Resources: is no key of this file",
		"resources = []":                      "1:1: resources: is no list of tables or an empty one",
		"[resources]\ntype = 'x'":             "1:2: resources: is no list of tables or an empty one",
		"resources = [\n  {type='x'},\n  1]":  "3:3: resources[1]: is a number, expected a table",
		"plugins = 1":                         "1:1: plugins: is a number, expected tables",
		"[plugins]\n  x = [1]":                "2:3: plugins.x: is a list, expected the table",
		"[plugins.x]\ntype = 'y'":             "2:1: plugins.x.type: has no default",
		"[plugins.x]\n[plugins.x.id]":         "2:12: plugins.x.id: has no default",
		"[plugins.x]\na = 2026-01-01":         "2:1: plugins.x.a: is a date or time",
		"[plugins.x]\na = [1, nan]":           "2:9: plugins.x.a[1]: is no finite number",
		"[plugins.x]\na = 1\na = 2":           "3:1: Key 'plugins.x.a' has already been defined",
		"[[resources]]\ntype = \"x":           "2:9: unexpected EOF",
		"a = \x80":                            "1:5: is not UTF-8",
		"a = " + strings.Repeat("[", 10_000):  "1:55: is nested too deep",
		"a" + strings.Repeat(".a", 10_000):    "1:102: is nested too deep",
		strings.Repeat("#", 64<<10) + "\n":    "1:1: is larger than 65536 bytes",
		"[plugins.x]\n\ta = 'ü' b":            "2:9: expected a top-level",
		"resources = [{type='x', type2 = [}]": "1:",
	} {
		_, err := project.Parse([]byte(text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if (err == nil) != (want == "") || !strings.HasPrefix(got, project.File+":"+want) && want != "" {
			t.Errorf("%.60q: got %q, want %q", text, got, want)
		}
		var syntax *syntax.Error
		if err != nil && !errors.As(err, &syntax) {
			t.Errorf("%.60q: %T", text, err)
		}
	}
}

func TestRead(t *testing.T) {
	if c, err := project.Read(""); err != nil || c.Resources != nil {
		t.Errorf("a bare repository: %v", err)
	}
	top := t.TempDir()
	if c, err := project.Read(top); err != nil || c.Resources != nil {
		t.Errorf("without a file: %v", err)
	}
	path := filepath.Join(top, project.File)
	if err := os.WriteFile(path, []byte(full), 0o666); err != nil {
		t.Fatal(err)
	}
	if c, err := project.Read(top); err != nil || len(c.Resources) != 2 {
		t.Errorf("got %d resources: %v", len(c.Resources), err)
	}
	other := t.TempDir()
	if err := os.Symlink(path, filepath.Join(other, project.File)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(other, "d"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(other, "d", project.File), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, top := range []string{other, filepath.Join(other, "d")} {
		if _, err := project.Read(top); err == nil || !strings.Contains(err.Error(), "is no regular file") {
			t.Errorf("what is no file is read: %v", err)
		}
	}
}

// FuzzParse: for any text, all parsed keys have a position, and errors have a position too.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add("plugins.a.b.c = 1\nresources = [ {type=\"\\\"x\", \n y = '''a'''' },\n]\n")
	f.Add("[plugins]\na = {b = [[1], {c = \"\"\"x\"\"\"\"\"}]}\r\n[[plugins.a1.b]]\n[plugins.a1.b.c]\nd=1\n[[plugins.a1.b]]\n[plugins.a1.b.c]\nd=1\n")
	f.Add("resources = [\n # comment\n {type = 'x'}]\n\"\\u0070lugins\".'x' = {\"\" = 1, a.b.c = 0x10}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := project.Parse([]byte(text))
		if err != nil {
			var syntax *syntax.Error
			if !errors.As(err, &syntax) || syntax.Path != project.File || syntax.Line < 1 || syntax.Column < 1 || syntax.Msg == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		for i, r := range c.Resources {
			placed(t, c, fmt.Sprintf("/resources/%d", i), r, text)
		}
		for _, d := range c.Plugins {
			placed(t, c, "/plugins/"+escape(d.Type), d.Config, text)
		}
	})
}

func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// placed checks that a value and everything in it have positions.
func placed(t *testing.T, c project.Config, pointer string, v jsonvalue.Value, text string) {
	t.Helper()
	if !c.Placed(pointer) {
		t.Fatalf("%q: %s has no place", text, pointer)
	}
	for i, item := range v.Items() {
		placed(t, c, fmt.Sprintf("%s/%d", pointer, i), item, text)
	}
	for _, m := range v.Members() {
		placed(t, c, pointer+"/"+escape(m.Name), m.Value, text)
	}
}
