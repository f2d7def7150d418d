package gitignore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/gitignore"
)

// TestClasses compares bracket expressions with git check-ignore, for every byte that a name can have.
func TestClasses(t *testing.T) {
	classes := []string{
		"[a-c]", "[!a-c]", "[^a-c]", "[a-]", "[-a]", "[a-c-e]", "[c-a]", "[]]", "[!]]", "[]-a]", `[\]]`, `[a\-c]`, `[\a-\c]`, `[a-\]]`, "[[]", "[a[]", "[[:]",
		"[[:a]", "[[:alpha]", "[[:alpha:]-z]", "[a-[:digit:]]", "[[:alpha:][:digit:]_]", "[![:space:]]", "[[.a.]]", "[[=a=]]", "[[:none:]]", "[[::]]",
		"[", "[!", "[a", "[a-", `[\`, `[a\`, `[a-\`, "[[:alpha:]", "[\xff]", "[\x80-\xff]", "[é]", "?", `\*`, `\?`, `\[`, "*[b]", "[!/]", "[/]",
	}
	for _, name := range strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit") {
		classes = append(classes, "[[:"+name+":]]", "[![:"+name+":]]")
	}
	top := repository(t)
	var patterns strings.Builder
	var paths []string
	for i, class := range classes {
		fmt.Fprintf(&patterns, "/%d/%s\n", i, class)
		for c := 1; c < 256; c++ {
			if c != '/' && c != '.' {
				paths = append(paths, fmt.Sprintf("%d/", i)+string([]byte{byte(c)}))
			}
		}
		paths = append(paths, fmt.Sprintf("%d/é", i), fmt.Sprintf("%d/ab", i), fmt.Sprintf("%d/[b", i))
	}
	if err := os.WriteFile(filepath.Join(top, ".gitignore"), []byte(patterns.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var stack *gitignore.Stack
	stack = stack.With(gitignore.Parse("", []byte(patterns.String())))
	want := ignored(t, top, paths)
	for _, path := range paths {
		if got := stack.Excludes(path, false); got != want[path] {
			var i int
			fmt.Sscanf(path, "%d/", &i)
			t.Errorf("%s, %q: %t, git says %t", classes[i], path, got, want[path])
		}
	}
	if len(want) < 1000 {
		t.Errorf("git ignores only %d of %d paths", len(want), len(paths))
	}
}

// TestStack checks that the rules of a deeper directory count before those above, and no rules count for nothing.
func TestStack(t *testing.T) {
	var none *gitignore.Stack
	if none.Excludes("a", false) || none.With(nil) != none || none.With(gitignore.Parse("", []byte("# a comment\n\n"))) != none {
		t.Error("no rules exclude something")
	}
	stack := none.With(gitignore.Parse("", []byte("*.o\n!keep.o\n/build/\ndir/*.x"))).With(gitignore.Parse("dir", []byte("!a.o\nkeep.o\n/y")))
	for _, c := range []struct {
		path                string
		directory, excluded bool
	}{
		{"a.o", false, true},
		{"keep.o", false, false},
		{"dir/a.o", false, false},
		{"dir/keep.o", false, true},
		{"dir/sub/keep.o", false, true},
		{"dir/b.o", false, true},
		{"dirt/keep.o", false, false},
		{"build", true, true},
		{"build", false, false},
		{"dir/build", true, false},
		{"dir/1.x", false, true},
		{"dir/sub/1.x", false, false},
		{"dir/y", false, true},
		{"y", false, false},
		{"dir/sub/y", false, false},
	} {
		if got := stack.Excludes(c.path, c.directory); got != c.excluded {
			t.Errorf("%s, directory %v: excluded %v", c.path, c.directory, got)
		}
	}
	if matched, _ := (*gitignore.Rules)(nil).Match("a", false); matched {
		t.Error("no rules match")
	}
	if matched, excluded := gitignore.Parse("", []byte("a\n!a")).Match("a", false); !matched || excluded {
		t.Errorf("the last pattern: matched %v, excluded %v", matched, excluded)
	}
}
