package review_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
)

// TestParse checks the files in an output of git diff, whatever their names and lines are.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		diff, old, new, status string
		hunks, lines           int
		binary, submodule      bool
	}{
		"modified":       {"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n", "x", "x", "modified", 1, 3, false, false},
		"two hunks":      {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n-a\n+b\n@@ -9 +9 @@ g\n-c\n+d\n\\ No newline at end of file\n", "x", "x", "modified", 2, 2, false, false},
		"spaces":         {"diff --git a/a b/c b/a b/c\n--- a/a b/c\t\n+++ b/a b/c\t\n@@ -0,0 +1 @@\n+x\n", "a b/c", "a b/c", "modified", 1, 1, false, false},
		"quoted":         {"diff --git \"a/\\303\\244\\n\" \"b/\\303\\244\\n\"\nnew file mode 100644\nindex 0..1\n", "ä\n", "ä\n", "added", 0, 0, false, false},
		"mode":           {"diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n", "x y", "x y", "modified", 0, 0, false, false},
		"rename":         {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "x", "y", "renamed", 0, 0, false, false},
		"deleted":        {"diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "x", "x", "deleted", 1, 1, false, false},
		"binary":         {"diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n", "x", "x", "modified", 0, 0, true, false},
		"submodule":      {"diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n", "x", "x", "modified", 1, 2, false, true},
		"lines as heads": {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/y\n+++ b/y\n diff --git a/z b/z\n-@@ -1 +1 @@\n+diff --git\n", "x", "x", "modified", 1, 5, false, false},
		"unmerged":       {"* Unmerged path q\ndiff --git a/x b/x\nold mode 1\nnew mode 2\n* Unmerged path r\n", "x", "x", "modified", 0, 0, false, false},
	} {
		files, err := review.Parse(c.diff)
		if err != nil || len(files) != 1 {
			t.Errorf("%s: %+v, %v", name, files, err)
			continue
		}
		f := files[0]
		lines := 0
		if len(f.Hunks) > 0 {
			lines = len(f.Hunks[0].Lines)
		}
		if old, now := f.Names(); old != c.old || now != c.new || f.Status != c.status || len(f.Hunks) != c.hunks || lines != c.lines || f.Binary != c.binary || f.Submodule != c.submodule {
			t.Errorf("%s: %q %q %+v", name, old, now, f)
		}
	}
	for _, bad := range []string{"@@ -1 +1 @@\n", "@@ -1,2 +1,2 @@\n a\n", "@@ -x +1 @@\n", "@@ -1 +1,y @@\n", "@@ \n"} {
		if files, err := review.Parse("diff --git a/x b/x\n" + bad); err == nil {
			t.Errorf("%q: %+v", bad, files)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n")
	f.Add("diff --git \"a/\\303\" \"b/\\303\"\n+++ \"b\n@@ -0,0 +1 @@\n+x\n\\ No\n")
	f.Fuzz(func(_ *testing.T, diff string) {
		_, _ = review.Parse(diff) // must not panic or hang
	})
}

// TestMask checks that secrets are masked where scan finds them in the whole files, also in names and headers.
func TestMask(t *testing.T) {
	key := "ghp_R7d0eW5tYu2gHj4KlMn6BvCx8ZaQ1oP3iUyT"
	old := "a\ntoken = " + key + "\nb\n"
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx8k2v1P0qRz7sT9uWbYcXdZeFfGhHiJj\n", 6) + "-----END RSA PRIVATE KEY-----\n"
	files, err := review.Parse("diff --git a/" + key + " b/" + key + "\nindex 1..2 100644\n@@ -1,3 +1,2 @@ " + key + "\n a\n-token = " + key + "\n b\n")
	if err != nil {
		t.Fatal(err)
	}
	review.Mask(files, old, "a\nb\n")
	all := files[0].Path + strings.Join(files[0].Header, "\n") + files[0].Hunks[0].Header + strings.Join(files[0].Hunks[0].Lines, "\n")
	if strings.Contains(all, "R7d0eW5t") || strings.Count(all, "ghp_****") != 4 || files[0].Hunks[0].Header != "@@ -1,3 +1,2 @@" {
		t.Error(all)
	}
	files, err = review.Parse("diff --git a/k b/k\n--- a/k\n+++ b/k\n@@ -3,0 +4,2 @@\n+" + strings.Join(strings.Split(pem, "\n")[3:5], "\n+") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	review.Mask(files, "x", pem)
	if lines := strings.Join(files[0].Hunks[0].Lines, "\n"); lines != "+****\n+****" {
		t.Error(lines)
	}
}

// TestCommands checks which calls are commands, and how they ended.
func TestCommands(t *testing.T) {
	block := func(language, text string) domarkx.Block {
		return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: text}
	}
	for _, c := range []struct{ arguments, result, text, status, exit string }{
		{`{"command": "go test"}`, `{"ok": true, "result": {"exit_code": 2, "output": ""}}`, "go test", "failed", "2"},
		{`{"command": "go test"}`, `{"ok": true, "result": "fine"}`, "go test", "ok", "0"},
		{`{"command": "go test"}`, `{"ok": false, "error": {"code": "tool_failed", "message": "Exit code 1\nFAIL"}}`, "go test", "failed", "1"},
		{`{"command": "go test"}`, `{"ok": false, "error": {"code": "refused", "message": "no"}}`, "go test", "refused", ""},
		{`{"command": ["bash", "-lc", "make a"]}`, `{"ok": true, "result": "Process exited with code 3\nOutput:\n"}`, "make a", "failed", "3"},
		{`{"cmd": "sleep 9"}`, `{"ok": true, "result": "Process running with session ID 4\n"}`, "sleep 9", "ok", ""},
		{`{"command": "go test"}`, "", "go test", "no result", ""},
		{`{"command": "view", "path": "/x"}`, `{"ok": true}`, "", "", ""},
		{`{"path": "x"}`, `{"ok": true}`, "", "", ""},
	} {
		msg := enginetest.Calling("m", "Bash", c.arguments)
		if c.result != "" {
			msg.Content = append(msg.Content, block("tool-result", c.result))
		}
		found := review.CommandsIn(msg)
		if c.text == "" {
			if len(found) != 0 {
				t.Errorf("%s: %+v", c.arguments, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Text != c.text || found[0].Status != c.status || found[0].Index != 7 {
			t.Errorf("%s %s: %+v", c.arguments, c.result, found)
			continue
		}
		exit := ""
		if found[0].Exit != nil {
			exit = string(rune('0' + *found[0].Exit))
		}
		if exit != c.exit {
			t.Errorf("%s %s: exit %q", c.arguments, c.result, exit)
		}
	}
}
