// Package llamatest runs llama.cpp's server with a small model whose answers a test defines.
//
// The server is real, with its inference, its APIs, its cache and its errors. Only the weights are
// generated (see [WriteModel]). ".ci/test-models" downloads the server and sets the environment
// variable.
package llamatest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Variable is the environment variable with the server's directory.
const Variable = "DOMARKX_TEST_LLAMA"

// Key is the API key that the server accepts.
const Key = "llama-key-0123456789"

// A Server is a running server.
type Server struct {
	URL string // base URL, with "/v1"

	cmd  *exec.Cmd
	log  string // path
	done chan struct{}
}

// Start starts the server with a model and additional arguments for llama.cpp, such as "-c 1024".
// The server stops when the test ends. Without [Variable], Start skips the test.
func Start(t testing.TB, m Model, arguments ...string) *Server {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skipf("NOT TESTED against a real model server: %s is not set; run: make test-models", Variable)
	}
	s, err := Run(t.Context(), dir, filepath.Join(t.TempDir(), "model.gguf"), m, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// Run is like [Start] without a test. It starts the server that is in a directory, writes the model
// to a file, and returns when the server answers. The caller must kill the server.
func Run(ctx context.Context, dir, file string, m Model, arguments ...string) (*Server, error) {
	if err := os.WriteFile(file, WriteModel(m), 0o600); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: fmt.Sprintf("http://127.0.0.1:%d/v1", port), log: file + ".log", done: make(chan struct{})}
	s.cmd, err = command(filepath.Join(dir, "root"), append([]string{"-m", file, "--host", "127.0.0.1", "--port", fmt.Sprint(port),
		"--api-key", Key, "--jinja", "-c", "4096", "-np", "2", "-t", "1", "--no-webui"}, arguments...))
	if err != nil {
		return nil, err
	}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait() // the caller kills it
		close(s.done)
	}()
	if err := s.await(ctx); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// command runs the server with the dynamic loader and libraries from its directory.
func command(root string, arguments []string) (*exec.Cmd, error) {
	loaders, err := filepath.Glob(filepath.Join(root, "usr/lib/*/ld-linux*.so.*"))
	if err != nil || len(loaders) == 0 {
		return nil, fmt.Errorf("%s has no llama-server: run .ci/install-llama", root)
	}
	lib := filepath.Dir(loaders[0])
	backends, err := filepath.Glob(filepath.Join(lib, "ggml", "*", "libggml-cpu*.so"))
	if err != nil || len(backends) == 0 {
		return nil, fmt.Errorf("%s has no backend for the processor", lib)
	}
	backend := backends[0]
	if i := slices.IndexFunc(backends, func(b string) bool { return strings.HasSuffix(b, "cpu-x64.so") }); i >= 0 {
		backend = backends[i] // the variant for any processor
	}
	cmd := exec.Command(loaders[0], append([]string{"--library-path", lib + ":" + filepath.Join(lib, "llama"), filepath.Join(root, "usr/bin/llama-server")}, arguments...)...)
	cmd.Env = append(os.Environ(), "GGML_BACKEND_PATH="+backend, "GGML_NO_BACKTRACE=1")
	return cmd, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// await waits until the server answers requests.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return s.poll(ctx, func() bool {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.URL, "/v1")+"/health", nil)
		if err != nil {
			return false
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// poll waits until something holds.
func (s *Server) poll(ctx context.Context, holds func() bool) error {
	for !holds() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.done:
			return fmt.Errorf("the server ended:\n%s", s.logged())
		case <-ctx.Done():
			return fmt.Errorf("the server is not as expected:\n%s", s.logged())
		}
	}
	return nil
}

func (s *Server) logged() string {
	data, _ := os.ReadFile(s.log) // for messages
	return string(data)
}

// Kill kills the server and waits for its end.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended already
	<-s.done
}

// AwaitLog waits until the server's log contains a text.
func (s *Server) AwaitLog(t testing.TB, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.poll(ctx, func() bool { return strings.Contains(s.logged(), text) }); err != nil {
		t.Fatalf("waiting for %q in the log: %v", text, err)
	}
}
