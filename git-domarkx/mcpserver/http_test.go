package mcpserver_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/mcpserver"
)

func TestListen(t *testing.T) {
	for address, want := range map[string]string{
		"0": "127.0.0.1", ":0": "127.0.0.1", "localhost:0": "127.0.0.1", "127.0.0.1:0": "127.0.0.1", "127.0.0.2:0": "127.0.0.2",
	} {
		listener, err := mcpserver.Listen(address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		if host, port, err := net.SplitHostPort(listener.Addr().String()); err != nil || host != want || port == "0" {
			t.Errorf("%q listens at %s", address, listener.Addr())
		}
		listener.Close()
	}
	for _, address := range []string{
		"0.0.0.0:0", "[::]:0", "192.168.0.1:0", "10.0.0.1:80", "example.org:80", "localhost.example:0", "169.254.1.1:0", "[fe80::1]:0", "2130706433:0", "127.1:0", "[::ffff:8.8.8.8]:0",
	} {
		if listener, err := mcpserver.Listen(address); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v, %v", address, listener, err)
		}
	}
	taken, err := mcpserver.Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, address := range []string{taken.Addr().String(), "127.0.0.1:99999", "127.0.0.1:x"} {
		if _, err := mcpserver.Listen(address); err == nil || errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), address) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestNewToken(t *testing.T) {
	a, b := mcpserver.NewToken(), mcpserver.NewToken()
	if len(a) != 64 || strings.Trim(a, "0123456789abcdef") != "" || a == b {
		t.Errorf("got %q and %q", a, b)
	}
}

// TestDefaultPort checks that the server also answers at the port that clients leave out.
func TestDefaultPort(t *testing.T) {
	server, err := serverOf(enginetest.New(t)).New()
	if err != nil {
		t.Fatal(err)
	}
	handler := mcpserver.Handler(server, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "token")
	for host, status := range map[string]int{"127.0.0.1": 401, "127.0.0.1:80": 401, "localhost": 401, "localhost:8080": 403, "evil.example": 403} {
		r, answer := httptest.NewRequest(http.MethodPost, mcpserver.Path, nil), httptest.NewRecorder()
		r.Host = host
		if handler.ServeHTTP(answer, r); answer.Code != status {
			t.Errorf("%s: status %d, expected %d", host, answer.Code, status)
		}
	}
}

func TestHandler(t *testing.T) {
	const token = "0123456789abcdef"
	c := enginetest.New(t)
	c.Appended("talk", "the secret")
	server, err := serverOf(c).New()
	if err != nil {
		t.Fatal(err)
	}
	handler := mcpserver.Handler(server, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8765}, token)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_messages","arguments":{"session":"talk"}}}`
	ask := func(body string, change func(*http.Request)) (status int, answer string, h http.Header) {
		r := httptest.NewRequest(http.MethodPost, mcpserver.Path, strings.NewReader(body))
		r.Host = "127.0.0.1:8765"
		for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-06-18"} {
			r.Header.Set(name, value)
		}
		if change != nil {
			change(r)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String(), w.Header()
	}
	header := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"as it should be":       {nil, 200},
		"localhost":             {host("localhost:8765"), 200},
		"own origin":            {header("Origin", "http://127.0.0.1:8765"), 200},
		"own origin by name":    {header("Origin", "http://localhost:8765"), 200},
		"token again, wrong":    {header("Authorization", "Bearer "+token, "Bearer x"), 200},
		"token twice":           {header("Authorization", "Bearer x", "Bearer "+token), 401},
		"scheme in lower case":  {header("Authorization", "bearer "+token), 200},
		"no token":              {header("Authorization"), 401},
		"empty token":           {header("Authorization", "Bearer "), 401},
		"other case":            {header("Authorization", "Bearer "+strings.ToUpper(token)), 401},
		"longer token":          {header("Authorization", "Bearer "+token+"0"), 401},
		"blank after the token": {header("Authorization", "Bearer "+token+" "), 401},
		"token without scheme":  {header("Authorization", token), 401},
		"token as user":         {func(r *http.Request) { r.SetBasicAuth(token, token) }, 401},
		"token as cookie": {func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: "token", Value: token})
		}, 401},
		"no host":                 {host(""), 403},
		"host without port":       {host("127.0.0.1"), 403},
		"rebound name":            {host("evil.example:8765"), 403},
		"address as other number": {host("2130706433:8765"), 403},
		"with a dot":              {host("localhost.:8765"), 403},
		"origin of a page":        {header("Origin", "https://evil.example"), 403},
		"origin null":             {header("Origin", "null"), 403},
		"origin of another port":  {header("Origin", "http://127.0.0.1:80"), 403},
		"origin over TLS":         {header("Origin", "https://127.0.0.1:8765"), 403},
		"own origin and another":  {header("Origin", "http://127.0.0.1:8765", "http://evil.example"), 403},
		"origin that is none":     {header("Origin", "http://[::1"), 403},
		"origin with a user":      {header("Origin", "http://127.0.0.1:8765@evil.example"), 403},
		"another path":            {func(r *http.Request) { r.URL.Path = "/" }, 404},
		"below the path":          {func(r *http.Request) { r.URL.Path = mcpserver.Path + "/x" }, 404},
		"a get":                   {func(r *http.Request) { r.Method = http.MethodGet }, 405},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer, h := ask(call, test.change)
			if status != test.status || strings.Contains(answer, "the secret") != (test.status == 200) {
				t.Errorf("status %d, expected %d: %s", status, test.status, answer)
			}
			if h.Get("Cache-Control") == "" || strings.Contains(h.Get("Cache-Control"), "public") || h.Get("X-Content-Type-Options") != "nosniff" || len(h.Values("Access-Control-Allow-Origin")) > 0 {
				t.Errorf("headers %v", h)
			}
			if (h.Get("WWW-Authenticate") == "Bearer") != (test.status == 401) {
				t.Errorf("WWW-Authenticate is %q", h.Get("WWW-Authenticate"))
			}
		})
	}
	for name, body := range map[string]string{
		"no JSON":          "{",
		"nothing":          "",
		"deep":             strings.Repeat("[", 100_000),
		"over the limit":   strings.Replace(call, "talk", strings.Repeat("x", 4<<20), 1),
		"not the protocol": `{"jsonrpc":"1.0","id":1,"method":"tools/call"}`,
		"unknown method":   `{"jsonrpc":"2.0","id":1,"method":"sessions/remove"}`,
	} {
		status, answer, _ := ask(body, nil)
		if status < 400 && !strings.Contains(answer, `"error"`) {
			t.Errorf("%s: status %d, %s", name, status, answer)
		}
	}
	if status, answer, _ := ask(call, nil); status != 200 || !strings.Contains(answer, "the secret") {
		t.Errorf("afterwards: status %d, %s", status, answer)
	}
}

// TestHTTPLimits checks that a client that sends endless headers is cut off.
func TestHTTPLimits(t *testing.T) {
	listener, err := mcpserver.Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	s := mcpserver.NewHTTP(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.IdleTimeout <= 0 {
		t.Errorf("a slow client is never cut off: %+v", s)
	}
	go s.Serve(listener)
	defer s.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.Copy(conn, io.MultiReader(strings.NewReader("GET / HTTP/1.1\r\nHost: x\r\n"), strings.NewReader(strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 100))))
	answer, err := io.ReadAll(conn)
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 431 ")) {
		t.Errorf("got %q, %v", answer, err)
	}
}

// pipes is a listener for the server ends of pipes.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestHTTPTimes checks that the time to receive a request is limited, but not the time to answer it.
func TestHTTPTimes(t *testing.T) {
	for name, test := range map[string]struct{ request, want string }{
		"get":               {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "answered"},
		"post":              {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", "answered"},
		"unfinished body":   {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nbody", "cut off"},
		"unfinished header": {"POST / HTTP/1.1\r\nHost: x\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mcpserver.NewHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					said := "answered"
					_, err := io.ReadAll(r.Body)
					select {
					case <-r.Context().Done():
						said = "cut off"
					case <-time.After(time.Hour):
					}
					if err != nil {
						said = "cut off"
					}
					io.WriteString(w, said)
				}))
				client, conn := net.Pipe()
				listener := make(pipes, 1)
				listener <- conn
				close(listener)
				go s.Serve(listener)
				go io.WriteString(client, test.request)
				client.SetReadDeadline(time.Now().Add(2 * time.Hour))
				var answer [1000]byte
				n, _ := client.Read(answer[:])
				if got := string(answer[:n]); !strings.HasSuffix(got, test.want) || (n > 0) != (test.want != "") {
					t.Errorf("got %q", got)
				}
				client.Close()
			})
		})
	}
}
