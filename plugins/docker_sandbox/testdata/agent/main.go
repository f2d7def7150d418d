// Command agent is the agent of test containers.
package main

import (
	"fmt"
	"os"

	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
)

func main() {
	code, ok := dockersandbox.AgentMain(os.Args)
	if !ok {
		fmt.Fprintln(os.Stderr, "this is process 1 of a container, and nothing else")
		code = 2
	}
	os.Exit(code)
}
