//go:build unix && !linux

package postgres

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// watcher is a shell script that runs a server until the script's input ends, which happens when
// this program ends, or until a signal.
const watcher = `"$@" & p=$!; trap 'kill -INT $p' INT; trap 'kill -QUIT $p' QUIT
(cat >/dev/null; kill -INT $p) <&3 & w=$!
wait $p; while kill -0 $p 2>/dev/null; do wait $p; done; kill $w 2>/dev/null`

// supervised returns a command that ends when this program does, killed or not. The caller closes
// the returned value when the command has ended.
func supervised(program string, args []string, attributes *syscall.SysProcAttr) (*exec.Cmd, []io.Closer, error) {
	input, lifeline, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", "exec 3<&0; " + watcher, "sh", program}, args...)...)
	cmd.SysProcAttr = attributes
	cmd.Stdin = input
	return cmd, []io.Closer{input, lifeline}, nil
}

// serves reports whether a process is a server with its files in a directory.
func serves(pid int, data string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "postgres") && strings.Contains(string(out), data)
}
