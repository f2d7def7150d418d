//go:build linux

package mcp_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/mcp"
)

// An httpServer is a server of the SDK over HTTP that records the requests.
type httpServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // METHOD PATH AUTHORIZATION
}

func serveHTTP(t *testing.T, options *sdk.StreamableHTTPOptions, wrap func(http.Handler) http.Handler) *httpServer {
	t.Helper()
	s := &httpServer{}
	var handler http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newServer() }, options)
	if wrap != nil {
		handler = wrap(handler)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *httpServer) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// remote returns the environment of a resource with a URL that is allowed.
func remote(url string) domarkx.Env {
	headers := jsonvalue.ObjectValue().With("Authorization", jsonvalue.StringValue("Bearer s3cret"))
	return domarkx.Env{Config: jsonvalue.ObjectValue().With("url", jsonvalue.StringValue(url)).With("headers", headers), Allow: domarkx.Allow{URLs: []string{url}},
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "${TOKEN}") }}
}

// TestHTTP calls tools over HTTP, with and without sessions and streams.
func TestHTTP(t *testing.T) {
	for name, options := range map[string]*sdk.StreamableHTTPOptions{
		"stateful": nil, "stateless": {Stateless: true}, "json": {Stateless: true, JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveHTTP(t, options, nil)
			r := open(t, mcp.New(), remote(s.URL+"/mcp"))
			if list := tools(t, r); len(list) != 9 {
				t.Errorf("%d tools", len(list))
			}
			if got := execute(t, r, call("echo", "text", "hi s3cret")); got != "hi ${TOKEN}" {
				t.Errorf("%q", got)
			}
			result, err := r.Execute(t.Context(), call("big", "bytes", "3000000"))
			if err != nil || result.Attachment == nil {
				t.Fatal(err)
			}
			if data := readAll(t, result); len(data) < 3000000 {
				t.Errorf("%d bytes", len(data))
			}
			_, err = r.Execute(t.Context(), call("read", "path", "/none/s3cret"))
			fails(t, err, domarkx.CodeFailed, "/none/${TOKEN}")
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for _, request := range s.seen() {
				if !strings.HasSuffix(request, " /mcp Bearer s3cret") {
					t.Errorf("request %q", request)
				}
			}
		})
	}
}

// TestURLs refuses what the user did not allow, and what no URL of a server can be.
func TestURLs(t *testing.T) {
	s := serveHTTP(t, nil, nil)
	host := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct {
		url     string
		allowed []string
		code    string
		text    string
	}{
		{s.URL + "/mcp", nil, domarkx.CodeRefused, "git config --add domarkx.allowURL"},
		{s.URL + "/mcp", []string{s.URL + "/m", s.URL[:len(s.URL)-1], ""}, domarkx.CodeRefused, "domarkx.allowURL"},
		{s.URL + "/mcp", []string{"other", s.URL}, "", ""},
		{s.URL + "/mcp", []string{s.URL + "/"}, "", ""},
		{s.URL + "/mcp", []string{"http://127.0.0.1:"}, "", ""},
		{s.URL + "/mcp?x=1", []string{s.URL + "/mcp"}, "", ""},
		{"http://example.org/mcp", []string{"http://example.org"}, domarkx.CodeRefused, "without TLS"},
		{"http://127.0.0.1.example.org/", []string{"http://"}, domarkx.CodeRefused, "without TLS"},
		{"https://user:s3cret@" + host, []string{"https://"}, domarkx.CodeInvalid, "credentials into headers"},
		{"http://127.0.0.1:1@example.org/", []string{"http://127.0.0.1:"}, domarkx.CodeInvalid, "user name"},
		{s.URL + "/a/../b", []string{s.URL + "/a"}, domarkx.CodeInvalid, `".."`},
		{s.URL + "/a/%2e%2e/b", []string{s.URL + "/a"}, domarkx.CodeInvalid, `".."`},
		{s.URL + "/a#b", []string{s.URL}, domarkx.CodeInvalid, "fragment"},
		{s.URL + "/a\\b", []string{s.URL}, domarkx.CodeInvalid, "backslash"},
		{"file:///etc/passwd", []string{"file:///"}, domarkx.CodeInvalid, "expected a URL of https"},
		{"ftp://127.0.0.1/", []string{"ftp://"}, domarkx.CodeInvalid, "expected a URL of https"},
		{"http:127.0.0.1", []string{"http:"}, domarkx.CodeInvalid, "expected a URL of https"},
		{"://", []string{"://"}, domarkx.CodeInvalid, "cannot be read"},
	} {
		env := remote(c.url)
		env.Allow.URLs = c.allowed
		r := open(t, mcp.New(), env)
		_, err := r.(domarkx.ToolLister).Tools(t.Context())
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.url, err)
			}
			continue
		}
		t.Log(c.url, c.allowed)
		fails(t, err, c.code, c.text)
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

// TestHeaders refuses headers that the protocol sets, and invalid headers.
func TestHeaders(t *testing.T) {
	s := serveHTTP(t, nil, nil)
	for _, name := range []string{"Host", "content-length", "Mcp-Session-Id", "Transfer-Encoding", "Accept", "a b", "a\r\nb", "x: y"} {
		env := remote(s.URL)
		env.Config = env.Config.With("headers", jsonvalue.ObjectValue().With(name, jsonvalue.StringValue("x")))
		if _, err := open(t, mcp.New(), env).(domarkx.ToolLister).Tools(t.Context()); err == nil {
			t.Errorf("header %q was accepted", name)
		}
	}
	env := remote(s.URL)
	env.Config = env.Config.With("headers", jsonvalue.ObjectValue().With("A", jsonvalue.StringValue("x\r\nB: y")))
	if _, err := open(t, mcp.New(), env).(domarkx.ToolLister).Tools(t.Context()); err == nil {
		t.Error("a header with a line break was accepted")
	}
	if seen := s.seen(); len(seen) > 0 {
		t.Errorf("requests %q", seen)
	}
}

// TestRedirects: the headers go to the URL of the config and to no other.
func TestRedirects(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		elsewhere := serveHTTP(t, nil, nil)
		s := serveHTTP(t, nil, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/elsewhere":
					http.Redirect(w, r, elsewhere.URL, status)
				case "/here":
					http.Redirect(w, r, "/mcp", status)
				default:
					next.ServeHTTP(w, r)
				}
			})
		})
		for _, path := range []string{"/elsewhere", "/here"} {
			r := open(t, mcp.New(), remote(s.URL+path))
			_, err := r.(domarkx.ToolLister).Tools(t.Context())
			fails(t, err, domarkx.CodeBroken, "redirect")
		}
		if seen := elsewhere.seen(); len(seen) > 0 {
			t.Errorf("%d: requests elsewhere: %q", status, seen)
		}
		for _, request := range s.seen() {
			if strings.Contains(request, " /mcp ") {
				t.Errorf("%d: %q", status, request)
			}
		}
	}
}

// TestLoopbackOnly: plain HTTP does not leave this machine, whatever a name resolves to.
func TestLoopbackOnly(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:1": true, "10.0.0.1:80": false, "[fe80::1]:80": false, "nowhere": false} {
		if err := mcp.OnlyLoopback("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestHostileHTTP has servers answer with too much, with nothing, or with nonsense.
func TestHostileHTTP(t *testing.T) {
	endless := func(w http.ResponseWriter, kind, before string, chunk []byte) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, before)
		for range 1 << 10 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	mib := bytes.Repeat([]byte("x"), 1<<20)
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		code   string
	}{
		"1 GB of JSON":     {func(w http.ResponseWriter, _ *http.Request) { endless(w, "application/json", `{"x": "`, mib) }, domarkx.CodeBroken},
		"an event of 1 GB": {func(w http.ResponseWriter, _ *http.Request) { endless(w, "text/event-stream", "data: ", mib) }, domarkx.CodeBroken},
		"events of 1 GB": {func(w http.ResponseWriter, _ *http.Request) {
			endless(w, "text/event-stream", "", append(append([]byte("data: {\"jsonrpc\": \"2.0\", \"method\": \"notifications/message\", \"params\": {\"x\": \""), mib...), "\"}}\n\n"...))
		}, domarkx.CodeBroken},
		"an error of 1 GB": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			endless(w, "text/plain", "", mib)
		}, domarkx.CodeBroken},
		"a long header": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 2<<20)) }, domarkx.CodeBroken},
		"nothing":       {func(http.ResponseWriter, *http.Request) {}, domarkx.CodeBroken},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "no")
		}, domarkx.CodeBroken},
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>no")
		}, domarkx.CodeBroken},
		"401": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, domarkx.CodeBroken},
		"a hang": {func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // only then the end of the connection is noticed
			<-r.Context().Done()
		}, domarkx.CodeTimeout},
		"a stream that ends": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\ndata:\n\n")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveHTTP(t, nil, func(http.Handler) http.Handler { return http.HandlerFunc(c.answer) })
			start := 30 * time.Second
			if c.code != domarkx.CodeBroken { // it takes as long as it may
				start = 300 * time.Millisecond
			}
			message := mcp.MaxMessage
			if testing.Short() {
				message /= 8
			}
			r := open(t, mcp.NewLimited(time.Minute, start, message), remote(s.URL))
			began := time.Now()
			var err error
			most := peak(func() { _, err = r.(domarkx.ToolLister).Tools(t.Context()) })
			if c.code != "" {
				fails(t, err, c.code)
			} else if err == nil {
				t.Error("it has tools")
			}
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 25*time.Second {
				t.Errorf("it took %v", took)
			}
			if most > 250<<20 {
				t.Errorf("it took %d MiB", most>>20)
			}
		})
	}
}

// TestHTTPTimeout calls a tool that hangs, and then others, also after the connection broke.
func TestHTTPTimeout(t *testing.T) {
	t.Parallel()
	s := serveHTTP(t, nil, nil)
	r := open(t, mcp.NewLimited(time.Second, 20*time.Second, mcp.MaxMessage), remote(s.URL))
	tools(t, r)
	began := time.Now()
	_, err := r.Execute(t.Context(), call("hang", "timeout", "1000"))
	fails(t, err, domarkx.CodeTimeout, "in time")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := execute(t, r, call("echo", "text", "again")); got != "again" {
		t.Errorf("afterwards: %q", got)
	}
	s.CloseClientConnections()
	if _, err := r.Execute(t.Context(), call("echo", "text", "x")); err != nil { // nobody knows whether it was made, so it is not repeated
		fails(t, err, domarkx.CodeBroken)
	}
	if got := execute(t, r, call("echo", "text", "again")); got != "again" {
		t.Errorf("after the connection broke: %q", got)
	}
}

// TestNoServer contacts a port where nobody listens.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r := open(t, mcp.New(), remote("http://"+l.Addr().String()))
	_, err = r.(domarkx.ToolLister).Tools(t.Context())
	fails(t, err, domarkx.CodeBroken, "refused")
}
