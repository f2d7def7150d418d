package engineapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// TestAttach talks to a container whose output begins in the same packet as the answer.
func TestAttach(t *testing.T) {
	ended := make(chan error, 1)
	c := fake(t, func(w http.ResponseWriter, r *http.Request) {
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if r.Method+r.URL.String()+r.Header.Get("Upgrade") != "POST/v1.41/containers/x/attach?stderr=1&stdin=1&stdout=1&stream=1tcp" {
			t.Error(r.Method, r.URL, r.Header)
		}
		io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly ")
		_, err = io.Copy(conn, in)
		ended <- err
	})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.Attach(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	c.Close()
	time.Sleep(20 * time.Millisecond)
	if _, err := io.WriteString(stream, "echo"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("early echo"))
	if _, err := io.ReadFull(stream, got); err != nil || string(got) != "early echo" {
		t.Errorf("%q, %v", got, err)
	}
	stream.Close()
	if err := <-ended; err != nil {
		t.Errorf("the container's input ended with %v", err)
	}
	// A proxy may not know upgrades.
	plain := fake(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "output") })
	if err := attach(t, plain); err == nil || !strings.Contains(err.Error(), "200 OK, expected 101") {
		t.Errorf("without an upgrade: %v", err)
	}
	silent := fake(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := silent.Attach(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent engine: %v", err)
	}
}

func TestOutput(t *testing.T) {
	piece := func(stream byte, text string) string {
		return string([]byte{stream, 0, 0, 0, byte(len(text) >> 24), byte(len(text) >> 16), byte(len(text) >> 8), byte(len(text))}) + text
	}
	long := strings.Repeat("long ", 100_000)
	for _, test := range []struct{ name, from, out, err, want string }{
		{name: "nothing"},
		{name: "two streams", from: piece(1, "a") + piece(2, "b") + piece(1, "") + piece(1, "c"), out: "ac", err: "b"},
		{name: "a long piece", from: piece(1, long) + piece(2, long), out: long, err: long},
		{name: "half a header", from: piece(1, "a") + "\x01\x00", out: "a", want: "unexpected EOF"},
		{name: "less than its size", from: "\x01\x00\x00\x00\xff\xff\xff\xffab", out: "ab", want: "unexpected EOF"},
		{name: "the engine's error", from: piece(1, "a") + piece(3, "broken"), out: "a", want: "the engine reported: broken"},
		{name: "an endless error", from: "\x03\x00\x00\x00\xff\xff\xff\xff" + long, want: "the engine reported: " + long[:8<<10]},
		{name: "a stream that is not one", from: piece(9, "a"), want: "stream 9"},
	} {
		var stdout, stderr bytes.Buffer
		_, err := io.Copy(&stdout, engineapi.Output(iotest.HalfReader(strings.NewReader(test.from)), &stderr))
		if stdout.String() != test.out || stderr.String() != test.err || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.50q, %.50q, %v", test.name, stdout.String(), stderr.String(), err)
		}
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(engineapi.Output(iotest.ErrReader(broken), io.Discard)); !errors.Is(err, broken) {
		t.Errorf("a broken connection: %v", err)
	}
}

// FuzzOutput checks that no input, whatever sizes it names, becomes more output than it has bytes.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x01a\x02\x00\x00\x00\x00\x00\x00\x01b"))
	f.Add([]byte("\x03\x00\x00\x00\xff\xff\xff\xffa"))
	f.Fuzz(func(t *testing.T, from []byte) {
		var stderr bytes.Buffer
		stdout, err := io.ReadAll(engineapi.Output(bytes.NewReader(from), &stderr))
		if n := len(stdout) + stderr.Len(); n > len(from) || err == nil && len(from)%8 != n%8 {
			t.Errorf("%d bytes of %d, %v", n, len(from), err)
		}
	})
}
