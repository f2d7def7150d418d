package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
)

// frame returns a frame of the protocol.
func frame(kind byte, payload string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)))) + payload
}

// frames returns the kinds of frames, and the payloads of those of one kind.
func frames(t *testing.T, data []byte, of byte) (kinds, payloads string) {
	t.Helper()
	for len(data) >= 5 {
		n := binary.BigEndian.Uint32(data[1:])
		if kinds += string(data[0]); data[0] == of {
			payloads += string(data[5 : 5+n])
		}
		data = data[5+n:]
	}
	if len(data) > 0 {
		t.Errorf("%d bytes after the last frame", len(data))
	}
	return kinds, payloads
}

var end = frame('E', "")

// client returns a client whose agent answers as given, and what the client sends.
func client(answers ...string) (*agent.Client, *bytes.Buffer) {
	var sent bytes.Buffer
	return agent.NewClient(strings.NewReader(strings.Join(answers, "")), &sent), &sent
}

// expect checks that an error contains a text, and whether it is a RequestError, after which the agent accepts requests.
func expect(t *testing.T, what string, err error, says string, request bool) {
	t.Helper()
	var refused *agent.RequestError
	if err == nil || !strings.Contains(err.Error(), says) || errors.As(err, &refused) != request {
		t.Errorf("%s: %v, expected %q, an error of the request: %v", what, err, says, request)
	}
}

const violated = "violated its protocol"

// TestAnswersWithoutData checks what Hello, Thaw and Apply make of answers.
func TestAnswersWithoutData(t *testing.T) {
	for name, call := range map[string]func(c *agent.Client) error{
		"Hello": func(c *agent.Client) error { return c.Hello([]string{"data"}) },
		"Thaw":  (*agent.Client).Thaw,
		"Apply": func(c *agent.Client) error { return c.Apply(func(*agent.Application) error { return nil }) },
	} {
		for answer, want := range map[string]string{
			end + "rest": "", frame('!', "no room"): "no room", frame('D', "x") + end: violated, frame('X', "{}"): violated, "": "EOF", end[:3]: "EOF", frame('D', ""): "EOF",
			"E\x00\x04\x00\x01": "a frame of 262145 bytes",
		} {
			c, _ := client(answer)
			if err := call(c); want == "" && err != nil {
				t.Errorf("%s: %v", name, err)
			} else if want != "" {
				expect(t, fmt.Sprintf("%s, %q", name, answer), err, want, want == "no room")
			}
		}
	}
	c, sent := client(end)
	if err := c.Hello([]string{"data", "x y"}); err != nil || sent.String() != frame('H', `["data","x y"]`) {
		t.Errorf("Hello sent %q, %v", sent, err)
	}
}

func TestFreezeAnswers(t *testing.T) {
	c, _ := client(frame('E', `{"busy":true,"now":7}`), end)
	if f, err := c.Freeze(); err != nil || f != (agent.Frozen{Busy: true, Now: 7}) {
		t.Errorf("%+v, %v", f, err)
	}
	if err := c.Thaw(); err != nil { // the answer to the next request follows
		t.Error(err)
	}
	for answer, want := range map[string]string{
		end: violated, frame('E', "[]"): violated, frame('D', "{}") + end: violated, frame('!', "no"): "no", frame('D', ""): "EOF",
	} {
		c, _ := client(answer)
		_, err := c.Freeze()
		expect(t, fmt.Sprintf("%.20q", answer), err, want, want == "no")
	}
}

func TestRunAnswers(t *testing.T) {
	exit := func(status string) string { return frame('E', status) }
	for _, c := range []struct{ answer, out, err string }{
		{exit(`{"code":3}`), "", ""},
		{frame('D', "one") + frame('D', "") + frame('D', "two") + exit(`{"code":3}`), "onetwo", ""},
		{frame('D', "one"), "one", "EOF"},
		{frame('D', "one") + end, "one", violated},
		{frame('X', "{}"), "", violated},
		{exit("three"), "", violated},
		{frame('!', "no user"), "", "no user"},
		{exit(`{"no_program":true}`), "", "no such program"},
	} {
		for _, args := range [][]string{{"program", "a"}, nil} {
			cl, sent := client(c.answer)
			var out bytes.Buffer
			code, err := cl.Run(t.Context(), agent.Command{Args: args}, &out)
			if c.err != "" {
				expect(t, c.answer, err, c.err, c.err == "no user")
			} else if code != 3 || err != nil {
				t.Errorf("%q: %d, %v", c.answer, code, err)
			}
			if errors.Is(err, agent.ErrNoProgram) != (c.err == "no such program") || out.String() != c.out {
				t.Errorf("%q: %v, output %q", c.answer, err, out.String())
			}
			if kinds, _ := frames(t, sent.Bytes(), 0); kinds != "R" {
				t.Errorf("%q: sent %s", c.answer, kinds)
			}
		}
	}
}

// TestRunEndsEarly checks that a command is killed whose output cannot be written or whose context ended, and that the
// next request gets its own answer.
func TestRunEndsEarly(t *testing.T) {
	full := errors.New("no space left")
	c, sent := client(frame('D', "a"), frame('D', "b"), frame('E', `{"code":137}`), end)
	if _, err := c.Run(t.Context(), agent.Command{Args: []string{"yes"}}, fails{full}); !errors.Is(err, full) {
		t.Errorf("without space: %v", err)
	}
	if err := c.Thaw(); err != nil {
		t.Error(err)
	}
	if kinds, _ := frames(t, sent.Bytes(), 0); kinds != "RKT" {
		t.Errorf("sent %s", kinds)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c, sent = client(frame('E', `{"code":137}`), end)
	if _, err := c.Run(ended, agent.Command{Args: []string{"yes"}}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := c.Thaw(); err != nil {
		t.Error(err)
	}
	if kinds, _ := frames(t, sent.Bytes(), 0); kinds != "RKT" && kinds != "KRT" {
		t.Errorf("sent %s", kinds)
	}
}

type fails struct{ err error }

func (f fails) Write([]byte) (int, error) { return 0, f.err }

// TestReadAnswers reads three files, one of them unreadable: in full, in part, and until the reader fails.
func TestReadAnswers(t *testing.T) {
	const answer = "D\x00\x00\x00\x03oneD\x00\x00\x00\x01!E\x00\x00\x00\x00!\x00\x00\x00\x07no fileD\x00\x00\x00\x05threeE\x00\x00\x00\x00E\x00\x00\x00\x00"
	stop := errors.New("stop")
	for name, c := range map[string]struct {
		read func(i int, r io.Reader) (string, error)
		want []string
		err  error
	}{
		"in full": {func(_ int, r io.Reader) (string, error) {
			data, err := io.ReadAll(r)
			return fmt.Sprint(string(data), err), nil
		}, []string{"one!<nil>", "no file", "three<nil>"}, nil},
		"in part": {func(_ int, r io.Reader) (string, error) {
			b := make([]byte, 2)
			n, _ := r.Read(b)
			return string(b[:n]), nil
		}, []string{"on", "", "th"}, nil},
		"not at all":    {func(int, io.Reader) (string, error) { return "", nil }, []string{"", "", ""}, nil},
		"until it ends": {func(i int, _ io.Reader) (string, error) { return "x", stop }, []string{"x"}, stop},
	} {
		cl, sent := client(answer, end)
		var got []string
		err := cl.Read([]string{"a", "b/c", ""}, func(i int, r io.Reader) error {
			text, err := c.read(i, r)
			got = append(got, text)
			return err
		})
		if !errors.Is(err, c.err) || strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := cl.Thaw(); err != nil {
			t.Errorf("%s: the next request: %v", name, err)
		}
		if kinds, paths := frames(t, sent.Bytes(), 'D'); kinds != "GDET" || paths != "a\x00b/c\x00\x00" {
			t.Errorf("%s: sent %s, %q", name, kinds, paths)
		}
	}
	cl, _ := client(answer[:20])
	if err := cl.Read([]string{"a", "b"}, func(_ int, r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half an answer: %v", err)
	}
}

func TestHashAnswers(t *testing.T) {
	sum := strings.Repeat("s", 32)
	c, sent := client(frame('D', sum[:7]), frame('D', sum[7:]+sum), end, end)
	sums, err := c.Hash([]string{"a", "b"})
	if err != nil || len(sums) != 2 || string(sums[1][:]) != sum {
		t.Errorf("%q, %v", sums, err)
	}
	if err := c.Thaw(); err != nil {
		t.Error(err)
	}
	if kinds, paths := frames(t, sent.Bytes(), 'D'); kinds != "PDET" || paths != "a\x00b\x00" {
		t.Errorf("sent %s, %q", kinds, paths)
	}
	for answer, want := range map[string]string{frame('D', sum) + end: "EOF", frame('D', sum[:5]): "EOF", frame('!', "no file"): "no file", frame('X', ""): violated} {
		c, _ := client(answer)
		_, err := c.Hash([]string{"a", "b"})
		expect(t, fmt.Sprintf("%.20q", answer), err, want, want == "no file")
	}
}

// TestScanAnswers checks entries across frames, an error of the caller, and entries over the limits.
func TestScanAnswers(t *testing.T) {
	one, two := agent.Entry{Path: "a", File: domarkx.File{Type: domarkx.Directory, Mode: 0o755}}, agent.Entry{Path: "a/b", File: domarkx.File{Type: domarkx.Regular, Size: 3}}
	data := string(agent.AppendEntry(agent.AppendEntry(nil, &one), &two))
	for cut := 1; cut < len(data); cut++ {
		c, _ := client(frame('D', data[:cut]), frame('D', data[cut:]), end, end)
		var paths []string
		if err := c.Scan(func(e agent.Entry) error { paths = append(paths, e.Path); return nil }); err != nil || strings.Join(paths, " ") != "a a/b" {
			t.Errorf("cut at %d: %q, %v", cut, paths, err)
		}
	}
	stop := errors.New("stop")
	c, _ := client(frame('D', data), frame('D', data), end, end)
	if err := c.Scan(func(agent.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the caller: %v", err)
	}
	if err := c.Thaw(); err != nil {
		t.Errorf("the next request: %v", err)
	}
	c, _ = client(frame('D', data), frame('!', "I/O error"))
	expect(t, "a failed scan", c.Scan(func(agent.Entry) error { return nil }), "I/O error", true)
	huge := func(change func(e *agent.Entry)) string {
		e := agent.Entry{Path: "p", File: domarkx.File{Mode: 0o644}}
		change(&e)
		return string(agent.AppendEntry(nil, &e))
	}
	for name, data := range map[string]string{
		"a long path":     huge(func(e *agent.Entry) { e.Path = strings.Repeat("x", 1<<20+1) }),
		"a long target":   huge(func(e *agent.Entry) { e.Target = strings.Repeat("x", 1<<20+1) }),
		"an odd mode":     huge(func(e *agent.Entry) { e.Mode = 0o10000 }),
		"a negative size": huge(func(e *agent.Entry) { e.Size = -1 }),
		"many attributes": huge(func(e *agent.Entry) { e.Xattrs = make([]domarkx.Xattr, 1<<12+1) }),
		"a long name":     huge(func(e *agent.Entry) { e.Xattrs = []domarkx.Xattr{{Name: strings.Repeat("x", 1<<16+1)}} }),
	} {
		if _, err := agent.ReadEntry(bufio.NewReader(strings.NewReader(data))); err == nil || !strings.Contains(err.Error(), violated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBrokenConnection checks that each request fails when the agent cannot be reached.
func TestBrokenConnection(t *testing.T) {
	gone := errors.New("gone")
	c := agent.NewClient(strings.NewReader(""), fails{gone})
	_, frozen := c.Freeze()
	_, run := c.Run(t.Context(), agent.Command{Args: []string{"x"}}, io.Discard)
	_, sums := c.Hash([]string{"a"})
	for name, err := range map[string]error{
		"Hello": c.Hello(nil), "Freeze": frozen, "Thaw": c.Thaw(), "Run": run, "Scan": c.Scan(nil), "Hash": sums, "Apply": c.Apply(nil),
		"Read": c.Read([]string{"a"}, func(int, io.Reader) error { return nil }),
	} {
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
