package zeus

import "os/exec"

func detach(*exec.Cmd) {}

func isOwnSocket(string) bool { return false }
