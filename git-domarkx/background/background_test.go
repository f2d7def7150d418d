//go:build unix

package background_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/background"
	"golang.org/x/sys/unix"
)

// jobVariable says what this test binary does in the background.
const jobVariable = "BACKGROUND_TEST_JOB"

func TestMain(m *testing.M) {
	parent := background.Waiting()
	switch job := os.Getenv(jobVariable); job {
	case "":
		os.Exit(m.Run())
	case "works":
		session, _ := unix.Getsid(0)
		fmt.Println(session == os.Getpid(), background.Waiting() == nil)
		if parent.Report(nil) != nil {
			os.Exit(1)
		}
		os.Stdin.Read(make([]byte, 1)) // until the test closes it
	case "fails":
		_ = parent.Report(errors.New("no room\nat all"))
		os.Exit(1)
	case "ends":
		os.Exit(7)
	case "hangs":
		fmt.Println("hangs")
		os.Stdin.Read(make([]byte, 1))
	}
}

func job(t *testing.T, name string) (cmd *exec.Cmd, output *os.File) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stdin, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	output, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{stdin, hold, stdout, output} {
			f.Close()
		}
	})
	cmd = exec.Command(self)
	cmd.Env = append(os.Environ(), jobVariable+"="+name)
	cmd.Stdin, cmd.Stdout = stdin, stdout
	return cmd, output
}

func TestStart(t *testing.T) {
	cmd, output := job(t, "works")
	if err := background.Start(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 64)
	n, err := output.Read(said)
	if err != nil || string(said[:n]) != "true true\n" {
		t.Errorf("got %q, %v; expected a session of its own, and no parent of its children", said[:n], err)
	}
}

func TestStartOfAProgramThatFails(t *testing.T) {
	cmd, _ := job(t, "fails")
	if err := background.Start(t.Context(), cmd); err == nil || err.Error() != "no room\nat all" {
		t.Errorf("got %v, expected the program's error", err)
	}
	cmd, _ = job(t, "ends")
	var ended *background.EndedError
	if err := background.Start(t.Context(), cmd); !errors.As(err, &ended) || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("got %v, expected how the program ended", err)
	}
	if err := background.Start(t.Context(), exec.Command(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, expected %v", err, os.ErrNotExist)
	}
}

func TestStartThatIsCancelled(t *testing.T) {
	cmd, output := job(t, "hangs")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	go func() {
		output.Read(make([]byte, 16)) // the program runs
		cancel()
	}()
	if err := background.Start(ctx, cmd); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, expected %v", err, context.Canceled)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "interrupt") {
		t.Errorf("the program ended with %v, expected an interrupt", err)
	}
}

func TestOpenLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	for _, step := range []struct {
		text string
		size int64
	}{{"first\n", 6}, {"second\n", 13}, {strings.Repeat("x", 1<<20), 13 + 1<<20}, {"anew\n", 5}} {
		log, err := background.OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.WriteString(step.text); err != nil {
			t.Fatal(err)
		}
		info, err := log.Stat()
		if err != nil || info.Size() != step.size || info.Mode().Perm() != 0o600 {
			t.Errorf("the log has %d bytes and the mode %v, %v; expected %d and 0600", info.Size(), info.Mode(), err, step.size)
		}
		log.Close()
	}
}
