package engineapi_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// fake starts an engine on a Unix socket that speaks API 1.41, and connects to it.
func fake(t *testing.T, answer http.HandlerFunc) *engineapi.Client {
	t.Helper()
	c := client(t, map[string]string{"DOCKER_HOST": "unix://" + socket(t, answer)})
	if _, err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func socket(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "engine") // short, for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_ping" {
			answer(w, r)
			return
		}
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Ostype", "linux")
		io.WriteString(w, "OK")
	}))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().String()
}

func client(t *testing.T, env map[string]string) *engineapi.Client {
	t.Helper()
	c, err := engineapi.New(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestEnvironment(t *testing.T) {
	for host, want := range map[string]string{
		"nonsense":           "expected unix://PATH",
		"unix://":            "expected unix://PATH",
		"ssh://me@host":      "expected unix://PATH",
		"npipe:////./pipe/d": "expected unix://PATH",
		"tcp://host/%zz":     "read DOCKER_HOST",
		"tcp://host:2376":    "DOCKER_CERT_PATH",
	} {
		env := map[string]string{"DOCKER_HOST": host, "DOCKER_CERT_PATH": "/nowhere"}
		if _, err := engineapi.New(func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", host, err, want)
		}
	}
	if host := client(t, map[string]string{"DOCKER_CERT_PATH": "/nowhere"}).Host(); host != "unix:///var/run/docker.sock" {
		t.Errorf("the default is %s", host)
	}
}

// TestVersion checks the version in the paths of requests, after an engine named its newest.
func TestVersion(t *testing.T) {
	for _, test := range []struct{ engine, set, want string }{
		{engine: "1.40", want: "/v1.40/info"},
		{engine: "1.41", want: "/v1.41/info"},
		{engine: "1.9999", want: "/v1.56/info"},
		{engine: "2.1", want: `"2.1" is not a version`},
		{engine: "1.50", set: " v1.44 ", want: "/v1.44/info"},
		{engine: "", set: "1.44", want: "/v1.44/info"},
		{engine: "1.39", want: "it speaks version 1.39 of the API, and 1.40 is needed"},
		{engine: "", want: "set DOCKER_API_VERSION"},
		{engine: "new", want: `"new" is not a version`},
		{engine: "1.99999999999999999999", want: "is not a version"},
	} {
		asked := ""
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Path
			w.Header().Set("Api-Version", test.engine)
			io.WriteString(w, "{}")
		}))
		c := client(t, map[string]string{"DOCKER_HOST": strings.Replace(s.URL, "http", "tcp", 1) + "/prefix/", "DOCKER_API_VERSION": test.set})
		_, err := c.Ping(t.Context())
		if err == nil && asked != "/prefix/_ping" {
			t.Errorf("asked for %s", asked)
		}
		if err == nil {
			_, err = c.Info(t.Context())
		}
		if got := strings.TrimPrefix(asked, "/prefix"); got != test.want && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
		s.Close()
	}
	if _, err := engineapi.New(func(string) string { return "tcp://1" }); err == nil {
		t.Error("a wrong DOCKER_API_VERSION is taken")
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "1.41") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	for name, data := range map[string][]byte{"ca.pem": certificate, "cert.pem": certificate, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"DOCKER_HOST": strings.Replace(s.URL, "https", "tcp", 1), "DOCKER_CERT_PATH": dir, "DOCKER_TLS_VERIFY": "1"}
	if _, err := client(t, env).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	env["DOCKER_HOST"] = strings.Replace(env["DOCKER_HOST"], "127.0.0.1", "localhost", 1) // not in the certificate
	if _, err := client(t, env).Ping(t.Context()); err == nil {
		t.Error("the name in the certificate is not verified")
	}
	env["DOCKER_TLS_VERIFY"] = ""
	if _, err := client(t, env).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	env["DOCKER_TLS_VERIFY"] = "1"
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := engineapi.New(func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "has no certificate") {
		t.Errorf("without an authority: %v", err)
	}
}

// TestRequests compares the requests with those of the reference.
func TestRequests(t *testing.T) {
	var asked string
	c := fake(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		query := r.URL.Query()
		asked = strings.TrimSpace(fmt.Sprintf("%s %s %v %s %s", r.Method, r.URL.Path, query, r.Header.Get("Content-Type"), body))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"ID": "x", "Config": null}`)
	})
	ctx := t.Context()
	for want, request := range map[string]func() error{
		"GET /v1.41/info map[]": func() error { _, err := c.Info(ctx); return err },
		"GET /v1.41/images/registry:5000/a b?c@sha256:1/json map[]": func() error {
			_, err := c.Image(ctx, "registry:5000/a b?c@sha256:1")
			return err
		},
		`POST /v1.41/containers/create map[] application/json {"Image":"i","Hostname":"","User":"","WorkingDir":"","Entrypoint":null,"Cmd":["c"],` +
			`"OpenStdin":false,"StdinOnce":false,"AttachStdin":false,"AttachStdout":false,"AttachStderr":false,"Labels":null,"Healthcheck":{"Test":["NONE"]},` +
			`"HostConfig":{"NetworkMode":"none","LogConfig":{"Type":""},"Mounts":null,"Init":false,"Memory":5,"NanoCpus":7}}`: func() error {
			id, err := c.Create(ctx, engineapi.Config{Image: "i", Cmd: []string{"c"}, Healthcheck: engineapi.Healthcheck{Test: []string{"NONE"}},
				HostConfig: engineapi.HostConfig{NetworkMode: "none", Resources: engineapi.Resources{Memory: 5, NanoCPUs: 7}}})
			if id != "x" {
				t.Errorf("created %q", id)
			}
			return err
		},
		`POST /v1.41/containers/x/update map[] application/json {"PidsLimit":9}`:                          func() error { return c.Update(ctx, "x", engineapi.Resources{PidsLimit: 9}) },
		"POST /v1.41/containers/x/start map[]":                                                            func() error { return c.Start(ctx, "x") },
		"POST /v1.41/containers/x/kill map[signal:[KILL]]":                                                func() error { return c.Kill(ctx, "x") },
		"DELETE /v1.41/containers/x map[force:[1] v:[1]]":                                                 func() error { return c.Remove(ctx, "x") },
		"GET /v1.41/containers/x/json map[]":                                                              func() error { _, err := c.Inspect(ctx, "x"); return err },
		"PUT /v1.41/containers/x/archive map[noOverwriteDirNonDir:[1] path:[/d e]] application/x-tar tar": func() error { return c.PutArchive(ctx, "x", "/d e", strings.NewReader("tar")) },
	} {
		if err := request(); err != nil || asked != want {
			t.Errorf("asked %s, %v\n want %s", asked, err, want)
		}
	}
	lists := fake(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path + " " + r.URL.Query().Get("filters") + r.URL.Query().Get("all")
		io.WriteString(w, `[{"Id": "x", "Labels": {"a": "b"}, "More": [1]}]`)
	})
	if list, err := lists.List(ctx, `a="b`); err != nil || len(list) != 1 || list[0].ID != "x" || list[0].Labels["a"] != "b" || asked != `/v1.41/containers/json {"label":["a=\"b"]}1` {
		t.Errorf("%+v, %v, asked %s", list, err, asked)
	}
	if list, err := lists.Images(ctx); err != nil || len(list) != 1 || list[0].ID != "x" || asked != "/v1.41/images/json " {
		t.Errorf("%+v, %v, asked %s", list, err, asked)
	}
}

func TestErrors(t *testing.T) {
	endless := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		status            int
		body, want        string
		notFound, refused bool
	}{
		{404, `{"message": "No such container: x\n"}`, "No such container: x", true, false},
		{409, `{"message": "container x is not running"}`, "container x is not running", false, true},
		{500, `{"message": ""}`, "500 Internal Server Error", false, false},
		{502, "<html>bad gateway</html>\n", "<html>bad gateway</html>", false, false},
		{503, "", "503 Service Unavailable", false, false},
		{307, "", "307 Temporary Redirect", false, false},
		{500, endless, endless[:8<<10], false, false},
	} {
		c := fake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/v1.41/elsewhere")
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		})
		for _, err := range []error{c.Kill(t.Context(), "x"), attach(t, c)} {
			if err == nil || err.Error() != test.want || errors.Is(err, engineapi.ErrNotFound) != test.notFound || errors.Is(err, engineapi.ErrConflict) != test.refused {
				t.Errorf("%d %.50s: %.100v", test.status, test.body, err)
			}
		}
	}
	c := fake(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	if err := c.Start(t.Context(), "x"); err != nil {
		t.Errorf("a container that runs already: %v", err)
	}
	c = fake(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	for _, name := range []string{"", "..", "../containers/x", "a//b", "a/../..", "a/"} {
		if _, err := c.Image(t.Context(), name); !errors.Is(err, engineapi.ErrNotFound) {
			t.Errorf("image %q: %v", name, err)
		}
	}
}

func attach(t *testing.T, c *engineapi.Client) error {
	t.Helper()
	stream, err := c.Attach(t.Context(), "x")
	if err == nil {
		stream.Close()
	}
	return err
}

// TestHostile asks engines that answer with too much, with nothing, or with something else.
func TestHostile(t *testing.T) {
	for _, test := range []struct {
		name, want string
		answer     http.HandlerFunc
	}{
		{"endless", "longer than 16 MB", func(w http.ResponseWriter, r *http.Request) {
			for data := make([]byte, 1<<20); r.Context().Err() == nil; {
				if _, err := w.Write(data); err != nil {
					return
				}
			}
		}},
		{"no JSON", "invalid character", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "OK") }},
		{"another type", "cannot unmarshal", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "[]") }},
		{"deep", "exceeded max depth", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("[", 1<<20)) }},
		{"half", "unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"ID"`)
		}},
		{"half, in chunks", "unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"ID"`)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
		{"endless header", "exceeded", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			defer conn.Close()
			for _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n"); err == nil; {
				_, err = io.WriteString(conn, "X: "+strings.Repeat("x", 1000)+"\r\n")
			}
		}},
		{"closed", "EOF", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"silent", "deadline exceeded", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"slow", "deadline exceeded", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				io.WriteString(w, " ")
				http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if strings.Contains(test.want, "deadline") {
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		}
		if _, err := fake(t, test.answer).Info(ctx); err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, context.DeadlineExceeded) != (ctx.Err() != nil) {
			t.Errorf("%s: %.200v", test.name, err)
		}
		cancel()
	}
}

func TestNoEngine(t *testing.T) {
	gone := socket(t, func(http.ResponseWriter, *http.Request) {})
	l, err := net.Listen("unix", gone+"2")
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for host, cause := range map[string]error{
		"unix:///nowhere/docker.sock": fs.ErrNotExist,
		"unix://" + gone + "2":        syscall.ECONNREFUSED,
		"tcp://127.0.0.1:1":           syscall.ECONNREFUSED,
	} {
		_, err := client(t, map[string]string{"DOCKER_HOST": host}).Ping(t.Context())
		if unreachable := (*engineapi.ConnectionError)(nil); !errors.As(err, &unreachable) || !errors.Is(err, cause) {
			t.Errorf("%s: %v", host, err)
		}
	}
}
