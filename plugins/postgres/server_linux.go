package postgres

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// supervised returns a command that ends when this program does, killed or not. The caller closes
// the returned value when the command has ended.
func supervised(program string, args []string, attributes *syscall.SysProcAttr) (*exec.Cmd, []io.Closer, error) {
	cmd := exec.Command(program, args...)
	attributes.Pdeathsig = syscall.SIGINT
	cmd.SysProcAttr = attributes
	return cmd, nil, nil
}

// serves reports whether a process is a server with its files in a directory.
func serves(pid int, data string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && cwd == data
}
