package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is a command that runs until it is interrupted.
type server struct {
	*bufio.Reader // its standard output
	in            io.WriteCloser
	wait          func() (status int, stderr string)
	cancel        context.CancelFunc
}

// serve starts a command in this process.
func (p place) serve(args ...string) server {
	p.t.Helper()
	p.t.Chdir(p.dir)
	ctx, cancel := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	stdin, in := io.Pipe()
	var errs strings.Builder
	done := make(chan int, 1)
	go func() {
		status := run(ctx, args, os.Getenv, stdio{stdin, stdout, &errs})
		stdout.Close()
		done <- status
	}()
	p.t.Cleanup(cancel)
	return server{bufio.NewReader(out), in, func() (int, string) {
		go io.Copy(io.Discard, out)
		return <-done, errs.String()
	}, cancel}
}

// end interrupts the server and waits for its end.
func (s server) end() (status int, stderr string) {
	s.cancel()
	return s.wait()
}

func (s server) line(t *testing.T) string {
	t.Helper()
	line, err := s.ReadString('\n')
	if err != nil {
		_, stderr := s.end()
		t.Fatalf("%v: %s", err, stderr)
	}
	return strings.TrimSuffix(line, "\n")
}

func status(t *testing.T, url string, header ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// TestWeb checks that the printed address admits, that the server opens a browser without the token among its
// arguments, and that it ends well when it is interrupted.
func TestWeb(t *testing.T) {
	p := newPlace(t)
	p.run(0, "-q", "append", "--new", "-m", "x", "talk")
	seen := filepath.Join(t.TempDir(), "seen")
	if err := os.WriteFile(seen+".sh", []byte("#!/bin/sh\necho \"$1\" >'"+seen+".part'\ncat \"$1\" >>'"+seen+".part'\nmv '"+seen+".part' '"+seen+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, browser := range []string{"/nowhere/browser:" + seen + ".sh", seen + ".sh %s"} {
		t.Setenv("BROWSER", browser)
		s := p.serve("web", "--open")
		address := s.line(t)
		if got := status(t, address); got != http.StatusSeeOther {
			t.Errorf("%s answers %d", address, got)
		}
		base, token, _ := strings.Cut(address, "?token=")
		if got := status(t, base); got != http.StatusForbidden {
			t.Errorf("without the token, %s answers %d", base, got)
		}
		var page []byte
		for page == nil {
			var err error
			if page, err = os.ReadFile(seen); err != nil && !os.IsNotExist(err) || t.Context().Err() != nil {
				t.Fatal(err)
			}
		}
		argument, text, _ := strings.Cut(string(page), "\n")
		if strings.Contains(argument, token) || !strings.Contains(text, token) {
			t.Errorf("the browser got %q, with %q", argument, text)
		}
		if got, stderr := s.end(); got != exitOK || stderr != "" {
			t.Errorf("status %d: %s", got, stderr)
		}
		if _, err := os.Stat(argument); !os.IsNotExist(err) {
			t.Errorf("the file with the token is left: %v", err)
		}
		if err := os.Remove(seen); err != nil {
			t.Fatal(err)
		}
	}
	s := p.serve("web")
	port := strings.TrimSuffix(strings.TrimPrefix(s.line(t), "http://127.0.0.1:"), "/")
	port, _, _ = strings.Cut(port, "/")
	answer, err := http.DefaultTransport.RoundTrip(&http.Request{Method: http.MethodOptions, Header: http.Header{}, URL: &url.URL{Scheme: "http", Host: "127.0.0.1:" + port, Path: "*"}})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("OPTIONS * gets %d", answer.StatusCode)
	}
	if _, stderr := p.run(exitFatal, "web", "--port", port); !strings.Contains(stderr, "address already in use") {
		t.Errorf("a port that is taken: %s", stderr)
	}
	s.end()
}

// TestMCPCommand checks the command around the server: input, output, options, and the end.
func TestMCPCommand(t *testing.T) {
	p := newPlace(t)
	p.run(0, "-q", "append", "--new", "-m", "x", "team/a")
	p.run(0, "-q", "append", "--new", "-m", "x", "other")
	for name, test := range map[string]struct {
		args     []string
		tools    int
		sessions int
	}{
		"all":       {[]string{"mcp"}, 6, 2},
		"pattern":   {[]string{"mcp", "--session", "team"}, 6, 1},
		"may write": {[]string{"mcp", "--write"}, 8, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			s := p.serve(test.args...)
			c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: io.NopCloser(s.Reader), Writer: s.in}, nil)
			if err != nil {
				t.Fatal(err)
			}
			tools, err := c.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != test.tools {
				t.Errorf("%d tools, %v", len(tools.Tools), err)
			}
			resources, err := c.ListResources(t.Context(), nil)
			if err != nil || len(resources.Resources) != test.sessions {
				t.Errorf("%d sessions, %v", len(resources.Resources), err)
			}
			if err := s.in.Close(); err != nil { // how a client ends it
				t.Fatal(err)
			}
			if got, stderr := s.wait(); stderr != "" || got != exitOK {
				t.Errorf("status %d: %s", got, stderr)
			}
		})
	}
	p.t = t
	if out, stderr := p.run(exitOK, "mcp"); out != "" || stderr != "" {
		t.Errorf("without input: %q, %q", out, stderr)
	}
}

// TestMCPOverHTTP checks that a token from the environment is not printed, and that without one a new one is.
func TestMCPOverHTTP(t *testing.T) {
	p := newPlace(t)
	for name, given := range map[string]string{"new token": "", "own token": "0123456789abcdef"} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			t.Setenv(tokenVariable, given)
			s := p.serve("mcp", "--http", "127.0.0.1:0")
			url, token, printed := strings.Cut(s.line(t), "\t")
			if printed != (given == "") {
				t.Errorf("the token is printed: %t", printed)
			}
			if given != "" {
				token = given
			}
			if got := status(t, url); got != http.StatusUnauthorized {
				t.Errorf("without the token: %d", got)
			}
			if got := status(t, url, "Authorization", "Bearer "+token); got != http.StatusMethodNotAllowed {
				t.Errorf("a GET with the token: %d", got)
			}
			s.end()
		})
	}
}
