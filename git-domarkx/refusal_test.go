package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsageErrors checks that command lines which the parser accepts, but the command does not, are
// refused with status 129, say how the command is written, and change nothing.
func TestUsageErrors(t *testing.T) {
	p := worked(t)
	p.write("a.md", "## user\n\na\n")
	p.write("dir/b.md", "## user\n\nb\n")
	t.Setenv(tokenVariable, "short")
	before := p.refs()
	for line, want := range map[string]string{
		"agent import vim":                     `"vim" is not an agent whose transcripts can be read`,
		"agent install vim":                    `"vim" is not an agent that can be recorded`,
		"agent uninstall vim":                  `"vim" is not an agent that can be recorded`,
		"agent install --scope galaxy codex":   "galaxy",
		"agent resume --in vim talk":           `"vim" is not an agent that can go on`,
		"agent resume talk":                    "the session is not from one of these agents",
		"append --role king -m x talk":         "--role must be one of",
		"blame -L 0,1 a.md":                    "is not a range of lines",
		"blame -L x,1 a.md":                    "is not a range of lines",
		"blame -L 3,2 a.md":                    "ends before it begins",
		"chat --max-turns -1 -m x talk":        "a limit is negative",
		"chat --max-cost=-1 -m x talk":         "a limit is negative",
		"chat --approve some -m x talk":        "--approve",
		"diff talk#0":                          `"talk#0" is a message`,
		"exec work":                            "missing RESOURCE and TOOL",
		"exec work files":                      "missing RESOURCE and TOOL",
		"exec work files read_file path":       "expected KEY=VALUE",
		"exec work files read_file path=\xff":  "expected UTF-8",
		"exec --args [] work files read_file":  "expected a JSON object",
		"export talk":                          "--format",
		"export --format xml talk":             `format "xml" is not known`,
		"import --as x a.md dir/b.md":          "--as names one document, not 2",
		"import --as x dir":                    `"dir" is a directory`,
		"import -":                             "standard input has no name",
		"import --attach a.md a.md dir/b.md":   "--attach adds files to one document",
		"import --format xml a.md":             `format "xml" is not known`,
		"list --sort size":                     "--sort must be one of",
		"list -n many":                         "-n",
		"log -p --json talk":                   "-p shows snapshots as text",
		"log -p --messages talk":               "-p shows snapshots as text",
		"man --write x log":                    "they take no COMMAND",
		"man --install log":                    "they take no COMMAND",
		"man --write x --install":              "exclude each other",
		"mcp --http 127.0.0.1:0":               "has fewer than 16 characters",
		"push --all origin talk":               "--all sends every session",
		"rewind talk":                          "names no snapshot or message to go back to",
		"scan --allow 0123 talk":               "and no NAME",
		"search --limit -1 x":                  "--limit is negative",
		"search -e (":                          "missing closing",
		"search \"open":                        "quotation mark",
		"search --role king x":                 `--role must be one of "user","assistant" but got`,
		"show --format xml talk":               `"xml" is not known`,
		"usage --since soon":                   `date "soon"`,
		"usage --until late":                   `date "late"`,
		"search --since soon x":                `date "soon"`,
		"mcp --session [":                      "expected a name, or a glob",
		"search --session [ x":                 "--session: pattern",
		"usage --by day-and-night":             "--by must be one of",
		"web --port 65536":                     "--port is 65536",
		"web --port=-1":                        "--port is -1",
		"web --port x":                         "--port",
		"zeus restore talk#1":                  `"talk#1" is a message`,
		"zeus restore --if-running maybe talk": "--if-running must be one of",
		"--color sometimes list":               "--color must be one of",
		"workspace show":                       "missing WS",
		"checkout work":                        "missing DIR",
	} {
		t.Run(line, func(t *testing.T) {
			p.t = t
			out, stderr := p.run(exitUsage, strings.Fields(line)...)
			if out != "" || !strings.HasPrefix(stderr, "git-domarkx: ") || !strings.Contains(stderr, want) || !strings.Contains(stderr, "\nSee 'git domarkx help") {
				t.Errorf("printed %q and %q", out, stderr)
			}
		})
	}
	if after := p.refs(); after != before {
		t.Errorf("the refs were\n%s\nand are\n%s", before, after)
	}
}

// TestRefusals checks the status and message of command lines that are well formed but cannot be done.
// None changes a session.
func TestRefusals(t *testing.T) {
	p := worked(t)
	p.write("a.md", "## user\n\na\n")
	p.write("bad.md", "---\nx: [\n---\n\n## user\n\na\n")
	p.write("not a directory", "")
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "kept"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p.run(0, "-q", "append", "--new", "-m", "x", "other")
	before := p.refs()
	for line, want := range map[string]struct {
		status int
		text   string
	}{
		"show none":                             {128, `session "none": not found; git domarkx list shows`},
		"show talk#9":                           {128, "message 9"},
		"show talk@ffffffff":                    {128, `snapshot "ffffffff": not found`},
		"show talk~9":                           {128, "has 2 snapshots"},
		"show talk#1#2":                         {128, "nothing may follow the message number"},
		"show ../HEAD":                          {128, "name"},
		"show --attachment x talk":              {128, "x"},
		"log none":                              {128, "not found"},
		"diff talk none":                        {128, "not found"},
		"append -m x none":                      {128, `session "none": not found (--new begins it); git domarkx list`},
		"append -m x talk#1":                    {128, "name"},
		"append --new -m x a..b":                {128, "name"},
		"append --new -m x -- -x":               {128, "name"},
		"append --new -m x talk/below":          {128, "talk"},
		"fork talk other":                       {128, "exists"},
		"fork talk#9 new":                       {128, "message 9"},
		"rename talk other":                     {128, "exists"},
		"rename none new":                       {128, "not found"},
		"rm none":                               {128, "not found"},
		"restore none":                          {128, "not found"},
		"restore talk":                          {128, "is not in the trash"},
		"rewind talk#9":                         {128, "message 9"},
		"trust none":                            {128, "not found"},
		"run none":                              {128, "not found"},
		"replay none":                           {128, "not found"},
		"exec work none read_file path=x":       {1, "none"},
		"exec work files none":                  {1, "none"},
		"exec talk files read_file path=x":      {1, "has no workspace"},
		"checkout talk " + full:                 {128, "not found"},
		"checkout work " + full:                 {1, "not empty"},
		"workspace checkout none " + full:       {128, "not found"},
		"workspace show none":                   {128, "git domarkx workspace list"},
		"workspace log none":                    {128, "not found"},
		"workspace path none":                   {128, "not found"},
		"workspace path work none":              {128, "none"},
		"workspace diff work none":              {128, "not found"},
		"workspace attach none work":            {128, "not found"},
		"workspace rm none":                     {128, "not found"},
		"import none.md":                        {1, "none.md"},
		"import bad.md":                         {1, "bad.md:"},
		"validate none.md bad.md":               {1, "bad.md:"},
		"export --format pi none":               {128, "not found"},
		"export --format pi -o /nowhere/x talk": {128, "/nowhere"},
		"push nowhere talk":                     {128, `"nowhere" is neither configured`},
		"push origin none":                      {128, "none"},
		"fetch nowhere":                         {128, `"nowhere" is neither configured`},
		"pull origin none":                      {1, "some sessions were not exchanged"},
		"list [":                                {128, "expected a name, or a glob"},
		"redact none":                           {128, "not found"},
		"scan none":                             {128, "not found"},
		"model test none":                       {128, "none"},
		"zeus restore none":                     {128, "git domarkx zeus list shows what there is"},
		"mcp --http 0.0.0.0:1":                  {129, "expected one of this machine"},
		"mount a.md":                            {128, "a.md"},
		"unmount none":                          {128, "none"},
		"blame none.txt":                        {128, "none.txt"},
		"man --write a.md":                      {128, "a.md"},
		"agent watch --stop":                    {0, ""},
	} {
		t.Run(line, func(t *testing.T) {
			p.t = t
			_, stderr := p.run(want.status, strings.Fields(line)...)
			if !strings.Contains(stderr, want.text) {
				t.Errorf("printed %q, expected %q", stderr, want.text)
			}
		})
	}
	if after := p.refs(); after != before {
		t.Errorf("the refs were\n%s\nand are\n%s", before, after)
	}
}

// TestOutsideOfARepository checks that every command that needs a repository says that there is none, and
// that the others work.
func TestOutsideOfARepository(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{"GIT_CEILING_DIRECTORIES": filepath.Dir(dir), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": dir} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	if err := os.WriteFile("a.md", []byte("## user\n\na\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"import a.md", "list", "status", "search x", "show a", "log a", "diff a", "blame a.md", "export --format pi a", "web", "usage", "append -m x a", "fork a b", "rename a b",
		"rm a", "restore a", "rewind a#0", "chat -m x a", "trust a", "run a", "exec a b c", "replay a", "checkout a b", "workspace list", "workspace log a", "agent list", "agent import", "agent watch",
		"zeus list", "mount", "redact a", "scan", "mcp", "push", "fetch", "pull", "fsck", "gc",
	} {
		if status, out, stderr := invoke(t, "", strings.Fields(line)...); status != exitFatal || out != "" || !strings.Contains(stderr, "not in a Git repository") {
			t.Errorf("%s: status %d, %q, %q", line, status, out, stderr)
		}
	}
	for line, want := range map[string]string{"version": "git-domarkx version", "validate a.md": "", "plugin list": "", "model list": "", "completion bash": "complete", "help log": "NAME", "man log": ".TH"} {
		if status, out, stderr := invoke(t, "", strings.Fields(line)...); status != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, %q, %q", line, status, out, stderr)
		}
	}
	if status, out, _ := invoke(t, "", "doctor"); status != exitNo || !strings.HasPrefix(out, "error\t") {
		t.Errorf("doctor: status %d, %q", status, out)
	}
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && path != dir && e.Name() != "a.md" {
			t.Errorf("%s was created", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
