package gitrepository_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx"
)

// What stands for ${NAME} in a URL is in no file of the repository and in no error.
func TestSecretInURL(t *testing.T) {
	isolate(t)
	from := filepath.Join(t.TempDir(), "s3cr3t", "origin")
	write(t, filepath.Join(from, "f"), "x")
	git(t, from, "init", "-q", "-b", "main")
	git(t, from, "add", "f")
	git(t, from, "commit", "-q", "-m", "Begin")
	env := func(url string) domarkx.Env {
		config := domarkx.ObjectValue(domarkx.Member{Name: "url", Value: domarkx.StringValue(url)})
		written := domarkx.ObjectValue(domarkx.Member{Name: "url", Value: domarkx.StringValue(strings.ReplaceAll(url, "s3cr3t", "${TOKEN}"))})
		return domarkx.Env{Config: config, Written: written, Allow: domarkx.Allow{URLs: []string{"file://"}}}
	}
	r := open(t, env("file://"+from))
	run(t, r, "status", `{}`)
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
