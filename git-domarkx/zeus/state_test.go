package zeus_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestStateDir(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	expect := func(configured, want string) {
		t.Helper()
		if got := zeus.StateDir(func(name string) string { return env[name] }, configured); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	expect("", home+"/.zeus")
	expect("~/here", home+"/here")
	old := filepath.Join(home, ".config/zeus/config.toml")
	write(t, old, "[storage]\nstate_dir = ' ~/old '\n", 0o666)
	expect("", home+"/old")
	expect("/mine", "/mine")
	write(t, filepath.Join(home, ".zeus/config.toml"), "not = [toml\n", 0o666)
	expect("", home+"/old")
	write(t, filepath.Join(home, ".zeus/config.toml"), "[dashboard]\nx = 1\n[storage]\nstate_dir = '/new'\n", 0o666)
	expect("", "/new")
	write(t, filepath.Join(home, ".zeus/config.toml"), "storage = 7\n", 0o666)
	expect("", home+"/.zeus")
	write(t, filepath.Join(home, ".zeus/config.toml"), "[storage]\nstate_dir = 7\n", 0o666)
	expect("", home+"/.zeus")
	env["ZEUS_HOME"] = "~/z"
	os.Remove(old)
	expect("", home+"/z")
	write(t, filepath.Join(home, "z/config.toml"), "[storage]\nstate_dir = '/of-z'\n", 0o666)
	expect("", "/of-z")
	env["ZEUS_STATE_DIR"] = "~"
	expect("/mine", home)
}
