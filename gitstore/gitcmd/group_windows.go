package gitcmd

import "os/exec"

// isolate does nothing: Windows has no SIGTERM, so the end of the context kills git.
func isolate(*exec.Cmd, bool) {}
