package gitcmd_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// TestQuotedPath checks that paths are quoted as Git does.
func TestQuotedPath(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paths := []string{"plain", "sp ace", "é", "世界", "\u2028", "\ufffd", "a\tb\nc\"d\\e", "dir/f\x7f"}
	for r := rune(1); r < 0x250; r++ {
		if r != '/' {
			paths = append(paths, fmt.Sprintf("x%cy", r))
		}
	}
	for _, path := range paths {
		full := filepath.Join(dir, "q", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("git", "-C", dir, "-c", "core.quotePath=off", "ls-files", "-o", "q").Output()
	if err != nil {
		t.Fatal(err)
	}
	byGit := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		byGit[strings.TrimSuffix(line, "\n")] = true
	}
	for _, path := range paths {
		if got := gitcmd.QuotedPath("q/" + path); !byGit[got] {
			t.Errorf("%q is quoted as %s, not as Git does", path, got)
		}
	}
	for _, path := range []string{"\xff", "a\xc3", "\xc3(", "\xed\xa0\x80"} {
		got := gitcmd.QuotedPath(path)
		if back, err := strconv.Unquote(got); err != nil || back != path || !utf8.ValidString(got) {
			t.Errorf("%q is quoted as %s, which is %q", path, got, back)
		}
	}
}
