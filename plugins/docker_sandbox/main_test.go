package dockersandbox_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
)

// TestMain makes the test binary the agent, too; it may be linked with the C library or statically.
func TestMain(m *testing.M) {
	if code, ok := dockersandbox.AgentMain(os.Args); ok {
		os.Exit(code)
	}
	if dir := os.Getenv("DOCKER_SANDBOX_HOLD"); dir != "" {
		hold(dir)
	}
	code, err := dockertest.Main(func() int {
		if err := dockertest.Load(context.Background(), "", dockertest.Image, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := removeShared(); err != nil {
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

// hold runs a command in the resource in dir until it is killed.
func hold(dir string) {
	config, err := jsonvalue.ParseValue([]byte(usedConfig))
	if err == nil {
		var live domarkx.Resource
		env := domarkx.Env{Workspace: "w", Resource: "docker_sandbox", Config: config, Dir: dir, Warn: func(string) {}}
		if live, err = dockersandbox.New().Open(context.Background(), env); err == nil {
			_, err = live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: jsonvalue.ObjectValue(
				jsonvalue.Member{Name: "command", Value: jsonvalue.StringValue("echo begun > /begun; setsid sleep 1000 & sleep 1000")})})
		}
	}
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}
