package enginetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Init creates an empty repository with a work tree, like git init does, but without a process
// and without examples of hooks: most tests begin with it.
func Init(t testing.TB, dir string) {
	t.Helper()
	git := filepath.Join(dir, ".git")
	for _, name := range []string{"info", "objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(git, filepath.FromSlash(name)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"HEAD":   "ref: refs/heads/master\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
	} {
		if err := os.WriteFile(filepath.Join(git, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
