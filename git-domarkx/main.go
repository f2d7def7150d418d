package main

import (
	"context"
	"os"

	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/process"
)

func main() {
	// The program may have been started to supervise a command of a local_shell.
	if code, ok := process.Supervise(); ok {
		os.Exit(code)
	}
	// In a container of a docker_sandbox, the program runs as process 1.
	if code, ok := dockersandbox.AgentMain(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, stdio{os.Stdin, os.Stdout, os.Stderr}))
}
