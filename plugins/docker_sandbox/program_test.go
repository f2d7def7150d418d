package dockersandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
)

// TestAgents opens one container with a static and a dynamically linked agent in turn; the latter
// is copied with its libraries.
func TestAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	sandbox := open(t, plainConfig)
	for i, cgo := range []string{"CGO_ENABLED=0", "CGO_ENABLED=1", "CGO_ENABLED=0"} {
		path := filepath.Join(dir, cgo)
		build := exec.Command("go", "build", "-trimpath", "-o", path, "./testdata/agent") // as the program itself, so that little is compiled anew
		build.Env = append(os.Environ(), cgo)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		env := sandbox.env
		if i < 2 {
			env.Dir = t.TempDir()
		}
		plugin := &dockersandbox.Plugin{Agent: path}
		live, err := plugin.Open(context.Background(), env)
		if err != nil {
			t.Fatalf("%s: %v", cgo, err)
		}
		r, err := live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: value(t, `{"command": "echo works"}`)})
		if err != nil || r.Value.JSON() != `{"exit_code":0,"output":"works\n"}` {
			t.Errorf("%s: %s %v", cgo, r.Value.JSON(), err)
		}
		end := live.TearDown
		if i == 2 {
			end = live.Close
		}
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
