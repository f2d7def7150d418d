package agents

import (
	"context"
	"os/exec"
	"regexp"
	"sync"
	"time"
)

// Placeholders for a version: the program is not installed, or does not report its version.
const (
	NotInstalled   = "-"
	UnknownVersion = "?"
)

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+([-+.][0-9A-Za-z]+)*`) })

// Versions starts the agents' programs to ask for their versions, all at once, because some need a
// second to start. The returned function waits for the answers, in the order of the agents. A
// program that has not answered when ctx ends is killed.
func Versions(ctx context.Context, agents []Agent) func() []string {
	versions := make([]string, len(agents))
	var running sync.WaitGroup
	for i, a := range agents {
		running.Go(func() { versions[i] = a.version(ctx) })
	}
	return func() []string {
		running.Wait()
		return versions
	}
}

func (a Agent) version(ctx context.Context) string {
	path, err := exec.LookPath(a.Program)
	if err != nil {
		return NotInstalled
	}
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = 100 * time.Millisecond // a child of it may keep its output open
	out, err := cmd.Output()
	if found := versionNumber().Find(out); err == nil && found != nil {
		return string(found)
	}
	return UnknownVersion
}
