//go:build linux

package external_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// TestSecretInOutput checks that the value of a ${NAME} is not in a log, warning or error of a
// plugin that prints it, even where these are truncated, nor in the arguments of its process.
func TestSecretInOutput(t *testing.T) {
	const secret = "s3cr3t-of-many-letters"
	p := plugin(t, `
token = None
def create(request):
    global token
    token = request["params"]["config"]["token"]
    sys.stderr.write("begin " + token + "\n" + "x" * 490 + token + "\n" + "y" * 65530 + token + "\nno line end: " + token)
    sys.stderr.flush()
    say(result(request, None))
def execute(request):
    sys.stderr.write(" " + token * 45)
    sys.stderr.flush()
    say("z" * 90 + token)
serve({"create_resource": create, "execute_tool": execute})
`)
	var warned strings.Builder
	env := domarkx.Env{
		Workspace: "w", Resource: "r", Config: value(t, `{"token": "`+secret+`"}`), Dir: t.TempDir(),
		Redact: func(text string) string { return strings.ReplaceAll(text, secret, "${TOKEN}") },
		Warn:   func(m string) { warned.WriteString(m + "\n") },
	}
	r, err := p.Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), secret) {
			t.Errorf("%s: %q", file, line)
		}
	}
	_, err = r.Execute(t.Context(), call(t, "do", `{}`))
	expect(t, err, domarkx.CodeBroken, "${TOKEN}")
	log, lerr := os.ReadFile(filepath.Join(env.Dir, "log"))
	if lerr != nil || !strings.HasPrefix(string(log), "begin ${TOKEN}\n") || !strings.Contains(string(log), "\nno line end: ${TOKEN}") {
		t.Errorf("log: %v, %.100q", lerr, log)
	}
	for where, text := range map[string]string{"the log": string(log), "a warning": warned.String(), "the error": err.Error()} {
		for _, part := range []string{"s3cr", "many", "letters"} {
			if i := strings.Index(text, part); i >= 0 {
				t.Errorf("%s has a part of the secret: …%q", where, text[max(0, i-20):min(len(text), i+40)])
			}
		}
	}
}
