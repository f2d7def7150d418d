package gitrepository_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	gitrepository "github.com/domarkx/domarkx/plugins/git_repository"
)

// TestSecretInURL checks that no file of the repository and no error contains the value of a ${NAME}.
func TestSecretInURL(t *testing.T) {
	isolate(t)
	from := filepath.Join(t.TempDir(), "s3cr3t", "origin")
	write(t, filepath.Join(from, "f"), "x")
	git(t, from, "init", "-q", "-b", "main")
	git(t, from, "add", "f")
	git(t, from, "commit", "-q", "-m", "Begin")
	env := func(url string) domarkx.Env {
		config := jsonvalue.ObjectValue(jsonvalue.Member{Name: "url", Value: jsonvalue.StringValue(url)})
		written := jsonvalue.ObjectValue(jsonvalue.Member{Name: "url", Value: jsonvalue.StringValue(strings.ReplaceAll(url, "s3cr3t", "${TOKEN}"))})
		return domarkx.Env{Config: config, Written: written, Allow: domarkx.Allow{URLs: []string{"file://"}}}
	}
	_, ran := tracedGit(t, "")
	r := open(t, env("file://"+from))
	run(t, r, "status", `{}`)
	if !strings.Contains(ran(), "upload-pack") || strings.Contains(ran(), "s3cr3t") {
		t.Errorf("git ran\n%s", ran())
	}
	err := filepath.WalkDir(pathOf(r), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("s3cr3t")) {
			t.Errorf("%s has the secret: %.200q", path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if config, err := os.ReadFile(filepath.Join(pathOf(r), ".git", "config")); err != nil || !bytes.Contains(config, []byte("${TOKEN}")) {
		t.Errorf("config: %q, %v", config, err)
	}
	for _, bad := range []string{"file://" + from + "/nowhere", "https:/s3cr3t", "ext::s3cr3t"} {
		_, err := open(t, env(bad)).Execute(t.Context(), call(t, "status", `{}`))
		if err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSecretInArguments checks that the name and password of an https URL reach the server, but are
// not in the arguments of git or of a program that git starts.
func TestSecretInArguments(t *testing.T) {
	isolate(t)
	const password = "s3cr3t/%41"
	top := t.TempDir()
	from := filepath.Join(top, "origin")
	write(t, filepath.Join(from, "f"), "x")
	git(t, from, "init", "-q", "-b", "main")
	git(t, from, "add", "f")
	git(t, from, "commit", "-q", "-m", "Begin")
	program, ran := tracedGit(t, "-c http.sslVerify=false")
	backend := &cgi.Handler{Path: program, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + top, "GIT_HTTP_EXPORT_ALL=1"}}
	asked := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		searchArguments(t, "s3cr3t")
		if name, given, _ := req.BasicAuth(); name != "me" || given != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked++
		backend.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "https://")
	expanded := "https://me:s3cr3t%2F%2541@" + host + "/origin"
	env := func(url, written string) domarkx.Env {
		return domarkx.Env{
			Config:  jsonvalue.ObjectValue(jsonvalue.Member{Name: "url", Value: jsonvalue.StringValue(url)}),
			Written: jsonvalue.ObjectValue(jsonvalue.Member{Name: "url", Value: jsonvalue.StringValue(written)}),
			Allow:   domarkx.Allow{URLs: []string{"https://" + host + "/", "ssh://h/", "ssh://git@h/"}},
		}
	}
	r := open(t, env(expanded, "https://me:${TOKEN}@"+host+"/origin"))
	if out := run(t, r, "log", `{}`); !strings.Contains(out, "Begin") || asked == 0 {
		t.Errorf("log: %s; %d requests with the password", out, asked)
	}
	if !strings.Contains(ran(), "git remote-https") || strings.Contains(ran(), "s3cr3t") {
		t.Errorf("git ran\n%s", ran())
	}
	for _, test := range []struct{ url, written string }{
		{"https://" + host + "/s3cr3t", "https://" + host + "/${TOKEN}"},
		{"https://" + host + "/origin?token=s3cr3t", "https://" + host + "/origin?token=${TOKEN}"},
		{expanded, "${TOKEN}"},
		{"https://me:s3c/r3t@" + host + "/origin", "https://me:${TOKEN}@" + host + "/origin"},
		{"ssh://git@h/s3cr3t", "ssh://git@h/${TOKEN}"},
	} {
		_, err := open(t, env(test.url, test.written)).Execute(t.Context(), call(t, "status", `{}`))
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "${NAME}") && !strings.Contains(err.Error(), "allow") {
			t.Errorf("%s: %v", test.written, err)
		}
	}
}

// tracedGit puts a git first on PATH that has its own options and records the arguments of all
// programs that it starts. It returns the path of the real git, and a function that returns the
// records.
func tracedGit(t *testing.T, options string) (program string, ran func() string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	write(t, filepath.Join(dir, "git"), "#!/bin/sh\nGIT_TRACE='"+trace+"' exec '"+program+"' "+options+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return program, func() string {
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
}

// searchArguments reports each process whose arguments contain a text.
func searchArguments(t *testing.T, text string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) {
			t.Errorf("%s: %q", file, line)
		}
	}
}

// TestNoSecretInBranch checks that ${NAME} is refused in a branch, because versions would contain it.
func TestNoSecretInBranch(t *testing.T) {
	for _, key := range []string{"branch", "ref"} {
		member := func(text string) jsonvalue.Value {
			return jsonvalue.ObjectValue(jsonvalue.Member{Name: key, Value: jsonvalue.StringValue(text)})
		}
		_, err := gitrepository.New().Open(t.Context(), domarkx.Env{Dir: t.TempDir(), Config: member("s3cr3t"), Written: member("${TOKEN}")})
		if err == nil || !strings.Contains(err.Error(), "/"+key) || strings.Contains(err.Error(), "s3cr3t") {
			t.Error(err)
		}
	}
}
