package localshell

import "os/exec"

// systemVariables are what programs need of the environment besides.
var systemVariables = []string{"SystemRoot", "windir", "ComSpec", "PATHEXT", "SystemDrive"}

func group(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
