// Package dockertest provides tests with a Docker engine, and with an image that is built without
// a network and has the same layer everywhere.
package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// An Engine is a Docker engine started for tests, independent of any other on the machine.
type Engine struct {
	Host string // value for DOCKER_HOST
	dir  string
	stop func() error
}

// Main sets DOCKER_HOST and runs tests with an engine: the one that answers, or a new one that it
// stops when run returns. It fails if no engine can be started.
func Main(run func() int) (code int, err error) {
	if answers(os.Getenv) {
		return run(), nil
	}
	e, err := Start()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	if err := os.Setenv("DOCKER_HOST", e.Host); err != nil {
		return 0, err
	}
	return run(), nil
}

// Start starts an engine, as root or with sudo. The engine does not touch the firewall or the
// networks of the machine, and ends with this process.
func Start() (_ *Engine, err error) {
	// Not below TMPDIR: the path of a socket has at most 107 bytes (unix(7)).
	dir, err := os.MkdirTemp("/tmp", "dockertest-")
	if err != nil {
		return nil, err
	}
	e := &Engine{Host: "unix://" + dir + "/docker.sock", dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := asRoot("setpriv", "--pdeathsig", "TERM", "dockerd", "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/pid",
		"-H", e.Host, "--bridge", "none", "--iptables=false", "--ip6tables=false", "--group", fmt.Sprint(os.Getgid()))
	cmd.Stdout, cmd.Stderr = log, log
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the parent-death signal is sent when the thread that started the process ends (prctl(2))
		ended <- cmd.Run()
	}()
	e.stop = func() error {
		pid, err := os.ReadFile(dir + "/pid")
		if err == nil {
			err = asRoot("kill", strings.TrimSpace(string(pid))).Run()
		}
		if err != nil {
			return err
		}
		select {
		case err := <-ended:
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return nil // of the signal
			}
			return err
		case <-time.After(30 * time.Second):
			return errors.New("the Docker engine does not end")
		}
	}
	deadline := time.After(60 * time.Second)
	for {
		if answers(func(name string) string { return map[string]string{"DOCKER_HOST": e.Host}[name] }) {
			return e, nil
		}
		select {
		case err := <-ended:
			e.stop = nil
			return nil, fmt.Errorf("the Docker engine ended: %v; apt-get install --no-install-recommends docker.io iptables, if it is missing\n%s", err, lastOf(log.Name()))
		case <-deadline:
			return nil, fmt.Errorf("the Docker engine does not answer:\n%s", lastOf(log.Name()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop stops the engine and removes its files.
func (e *Engine) Stop() error {
	var err error
	if e.stop != nil {
		err = e.stop()
	}
	out, removed := asRoot("rm", "-rf", "--one-file-system", e.dir).CombinedOutput()
	if removed != nil {
		removed = fmt.Errorf("remove %s: %w: %s", e.dir, removed, out)
	}
	return errors.Join(err, removed)
}

// asRoot returns a command that root runs, by sudo unless this process is of root.
func asRoot(args ...string) *exec.Cmd {
	if os.Getuid() != 0 {
		args = append([]string{"sudo", "-n"}, args...)
	}
	return exec.Command(args[0], args[1:]...)
}

func lastOf(log string) []byte {
	data, _ := os.ReadFile(log) // only for the error message
	lines := bytes.Split(data, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-15):], []byte("\n"))
}

// Use loads [Image] for one test and returns the host of the engine: the one that answers, or a
// new one that ends with the test.
func Use(tb testing.TB) string {
	tb.Helper()
	host := os.Getenv("DOCKER_HOST")
	if !answers(os.Getenv) {
		e, err := Start()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := e.Stop(); err != nil {
				tb.Error(err)
			}
		})
		host = e.Host
	}
	if err := Load(context.Background(), host, Image, nil); err != nil {
		tb.Fatal(err)
	}
	return host
}

// answers reports whether the engine of DOCKER_HOST, or the local one, answers.
func answers(getenv func(string) string) bool {
	c, err := engineapi.New(getenv)
	if err != nil {
		return false
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = c.Ping(ctx)
	return err == nil
}
