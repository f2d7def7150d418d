package dockersandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
)

// agentPath is the agent: the tests themselves may be linked with the C library.
var agentPath string

func TestMain(m *testing.M) {
	code, err := dockertest.Main(func() int {
		code, err := runTests(m)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "docker_sandbox-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	agentPath = filepath.Join(dir, "agent")
	build := exec.Command("go", "build", "-o", agentPath, "./testdata/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the agent: %w\n%s", err, out)
	}
	if _, err := dockertest.Load(context.Background(), "", dockertest.Image, nil); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func plugin() *dockersandbox.Plugin { return &dockersandbox.Plugin{Agent: agentPath} }
