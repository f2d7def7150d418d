// Command git-domarkx keeps AI sessions in Git and shows them as Markdown files.
//
// This package parses the command line, connects the packages that do the work, and prints results. Each command has a file
// cmd_<verb>.go, which includes its help text. The help screens, manual pages, documentation (package clidoc) and completions are
// all generated from one command model. Policy lives in the engine, not here.
package main

//go:generate go test -trimpath -run "TestGenerated|TestReadme" -update .

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
