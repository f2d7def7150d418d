package dockersandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
)

// agentPath is the agent: the tests themselves may be linked with the C library.
var agentPath string

func TestMain(m *testing.M) {
	if dir := os.Getenv("DOCKER_SANDBOX_HOLD"); dir != "" {
		hold(dir)
	}
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

// hold works with the resource in a folder until it is killed.
func hold(dir string) {
	agentPath = os.Getenv("DOCKER_SANDBOX_AGENT")
	config, err := domarkx.ParseValue([]byte(plainConfig))
	if err == nil {
		var live domarkx.Resource
		site := domarkx.Site{Workspace: "w", Resource: "docker_sandbox", Config: config, Dir: dir, Warn: func(string) {}}
		if live, err = plugin().Open(context.Background(), site); err == nil {
			_, err = live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: domarkx.ObjectValue(
				domarkx.Member{Name: "command", Value: domarkx.StringValue("echo begun > /begun; setsid sleep 1000 & sleep 1000")})})
		}
	}
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}

func plugin() *dockersandbox.Plugin { return &dockersandbox.Plugin{Agent: agentPath} }
