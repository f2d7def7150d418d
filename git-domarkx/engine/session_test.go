package engine_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// documents are texts that must be shown exactly as saved after any operation.
var documents = map[string]string{
	"empty":          "",
	"plain":          "## user\n\nhi\n\n## assistant\n\nhello\n",
	"tight":          "## user\nhi\n## assistant\nhello\n",
	"no line end":    "## user\n\nhi",
	"crlf":           "## user\r\n\r\nhi\r\n\r\n## assistant\r\n\r\nhello\r\n",
	"open fence":     "## user\n\n```sh\nls",
	"front matter":   "---\ntitle: T\nauthor: A\n---\n\n# Title\n\n## user\n\nhi\n",
	"blank lines":    "\n\n## user\n\n\n\nhi\n\n\n\n## assistant\n\n\n",
	"empty message":  "## user\n\n## assistant\n",
	"code":           "## assistant\n\nSee:\n\n```sh name=x\nls\n```\n\ndone\n",
	"quoted":         "## User\n\n```json msg-metadata\n{\"a\": 1}\n```\n\n> hi\n> there\n",
	"bad bytes":      "## user\n\n\xff\xfe\x00 \u2028 x\n",
	"open preamble":  "just words",
	"preamble fence": "```sh\nls",
	"escaped":        "## user\n\n\\## user\n",
}

func TestImportShowsTheSameBytes(t *testing.T) {
	for name, text := range documents {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			first := c.ImportMarkdown(c.WriteFile("a.md", text))
			if got := c.Shown("a"); got != text {
				t.Fatalf("got %q, want %q", got, text)
			}
			if again := c.ImportMarkdown(c.Dir + "/a.md"); again.ID != first.ID || again.Changed {
				t.Errorf("importing it again made %s, was %s", again.ID, first.ID)
			}
			c.Fsck()
		})
	}
}

func TestAppendKeepsWhatWasThere(t *testing.T) {
	for name, text := range documents {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			before := c.ImportMarkdown(c.WriteFile("a.md", text))
			c.Appended("a", "one")
			after := c.Appended("a", "two")
			got := c.Shown("a")
			if !strings.HasPrefix(got, text) {
				t.Errorf("got %q, want it to begin with %q", got, text)
			}
			if !strings.HasSuffix(got, "\n## user\n\none\n\n## user\n\ntwo\n") && got != "## user\n\none\n\n## user\n\ntwo\n" {
				t.Errorf("got %q, want both messages at its end", got)
			}
			if after.Messages != before.Messages+2 {
				t.Errorf("%d messages, want %d", after.Messages, before.Messages+2)
			}
			if got := c.ShownIn("a#0", engine.JSON); before.Messages > 0 && got == "" {
				t.Error("message 0 is gone")
			}
			saved := c.Saved("a", after.ID, got)
			if saved.Changed {
				t.Errorf("saving what is there made snapshot %s", saved.ID)
			}
			c.Fsck()
		})
	}
}

func TestSaveMergesWithWhatHappenedMeanwhile(t *testing.T) {
	c := newClone(t)
	base := c.ImportFile(c.WriteFile("a.md", "## user\n\none\n\n## assistant\n\ntwo\n"))
	c.Appended("a", "from elsewhere")
	saved := c.Saved("a", base.ID, "## user\n\nONE\n\n## assistant\n\ntwo\n")
	if !saved.Merged {
		t.Error("the save was not merged")
	}
	if got, want := c.Shown("a"), "## user\n\nONE\n\n## assistant\n\ntwo\n\n## user\n\nfrom elsewhere\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Fsck()
}

func TestBothTextsOfAConflictStay(t *testing.T) {
	c := newClone(t)
	base := c.ImportFile(c.WriteFile("a.md", "## user\n\none\n"))
	c.Saved("a", base.ID, "## user\n\nthis\n")
	c.Saved("a", base.ID, "## user\n\nthat\n")
	tip := c.Tip("a")
	got := c.Shown("a")
	if tip.Messages != 2 || !strings.Contains(got, "this") || !strings.Contains(got, "that") || strings.Count(got, `"conflict"`) != 2 {
		t.Fatalf("%d messages: %s", tip.Messages, got)
	}
	if again := c.Saved("a", tip.ID, got); again.Changed {
		t.Error("saving a conflict as it is changed it")
	}
	c.Appended("a", "next")
	c.Fsck()
	solved := c.Saved("a", c.Tip("a").ID, "## user\n\nboth\n\n## user\n\nnext\n")
	if got := c.Shown("a"); got != "## user\n\nboth\n\n## user\n\nnext\n" || solved.Messages != 2 {
		t.Errorf("solved to %q", got)
	}
	c.Fsck()
}

func TestRewindCanBeUndone(t *testing.T) {
	for name, text := range documents {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.ImportMarkdown(c.WriteFile("a.md", text))
			c.Appended("a", "one")
			c.Appended("a", "two")
			full := c.Shown("a")
			k := c.Tip("a").Messages - 2
			done, err := c.Rewind(t.Context(), engine.Revision{Name: "a", Message: k})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Shown("a"); done.Now.Messages != k+1 || !strings.HasPrefix(full, got) {
				t.Errorf("rewound to %d messages %q, want %d of %q", done.Now.Messages, got, k+1, full)
			}
			if _, err := c.Rewind(t.Context(), engine.Revision{Name: "a", ID: done.Before.ID, Message: -1}); err != nil {
				t.Fatal(err)
			}
			if got := c.Shown("a"); got != full {
				t.Errorf("undone to %q, want %q", got, full)
			}
			c.Fsck()
		})
	}
}

func TestForkEndsWithTheMessage(t *testing.T) {
	c := newClone(t)
	c.ImportFile(c.WriteFile("a.md", documents["plain"]))
	if _, err := c.Fork(t.Context(), engine.Revision{Name: "a", Message: 0}, "b"); err != nil {
		t.Fatal(err)
	}
	if got := c.Shown("b"); got != "## user\n\nhi\n" {
		t.Errorf("forked %q", got)
	}
	c.Appended("b", "on")
	if got := c.Shown("a"); got != documents["plain"] {
		t.Errorf("the fork changed what it was made from: %q", got)
	}
	c.Fsck()
}

func TestImportGoesOnFromTheSameSource(t *testing.T) {
	c := newClone(t)
	path := c.WriteFile("a.md", "## user\n\none\n")
	c.ImportFile(path)
	c.Appended("a", "mine")
	c.WriteFile("a.md", "## user\n\none\n\n## assistant\n\nyours\n")
	saved := c.ImportFile(path)
	if saved.Name != "a" || !saved.Merged || saved.Messages != 3 {
		t.Errorf("imported as %+v", saved)
	}
	if other := c.ImportFile(c.WriteFile("sub/a.md", "## user\n\nother\n")); other.Name != "a-2" {
		t.Errorf("another source became %q", other.Name)
	}
	c.Fsck()
}

func TestIncludesAreStored(t *testing.T) {
	c := newClone(t)
	c.WriteFile("part.md", "## assistant\n\nA\n\n## user\n\nB\n")
	c.WriteFile("words.txt", "some words\n")
	text := "## user\n\nhi\n\n[include](words.txt)\n\n[include](part.md)\n\n## assistant\n\nbye\n"
	c.ImportFile(c.WriteFile("a.md", text))
	tip := c.Tip("a")
	if got := c.Shown("a"); got != text || tip.Messages != 4 {
		t.Fatalf("%d messages, got %q", tip.Messages, got)
	}
	edited := strings.Replace(text, "bye", "BYE", 1)
	c.Saved("a", tip.ID, edited)
	if got := c.Shown("a"); got != edited {
		t.Errorf("saved %q, got %q", edited, got)
	}
	c.Appended("a", "more")
	if got := c.Shown("a"); got != edited+"\n## user\n\nmore\n" {
		t.Errorf("appended to %q", got)
	}
	c.Fsck()
	if _, err := c.Rewind(t.Context(), engine.Revision{Name: "a", Message: 1}); err != nil {
		t.Fatal(err)
	}
	if got := c.Shown("a"); strings.Contains(got, "B\n") || !strings.Contains(got, "some words") {
		t.Errorf("rewound to %q", got)
	}
	c.Fsck()
}

func TestExportGivesBackTheOriginal(t *testing.T) {
	c := newClone(t)
	original := "{ \"version\":\"1.0\",\"snapshot_id\":\"x\",\n\"metadata\":{\"import_timestamp\":\"2025-11-14T10:45:00Z\"},\"execution_config\":{},\"conversation\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"value\":\"a\\ud83d\"}]}]}"
	c.ImportFile(c.WriteFile("s.json", original))
	export := func() string {
		var b strings.Builder
		export, err := c.Export(t.Context(), engine.ExportRequest{Revision: engine.Revision{Name: "s", Message: -1}, Format: "json"})
		if err == nil {
			err = export.Write(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := export(); got != original {
		t.Errorf("got %s", got)
	}
	before := c.Tip("s")
	if got := c.ShownIn("s", engine.JSON); !strings.Contains(got, `"snapshot_id": "x"`) || !strings.Contains(got, `a\ud83d`) {
		t.Errorf("shown as %s", got)
	}
	c.Appended("s", "more")
	if got := export(); got == original || strings.Contains(got, `"snapshot_id": "x"`) {
		t.Errorf("changed, but exported as %s", got)
	}
	if _, err := c.Rewind(t.Context(), engine.Revision{Name: "s", ID: before.ID, Message: -1}); err != nil {
		t.Fatal(err)
	}
	if got := export(); got != original {
		t.Errorf("rewound, but exported as %s", got)
	}
	c.Fsck()
}

func TestTheWorkspaceOutlivesTheMessageThatNamedIt(t *testing.T) {
	const message = "## user\n\nset it up\n"
	for name, preamble := range map[string]string{"no preamble": "", "front matter": "---\ntitle:   T\n---\n\n", "open end": "words\n"} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.ImportFile(c.WriteFile("a.md", preamble+message+"\n## assistant\n\nyes\n\n```workspace-config\nresources:\n  - type: docker_sandbox\n    image: x\n```\n"))
			full := c.Tip("a")
			if _, err := c.Fork(t.Context(), engine.Revision{Name: "a", Message: 0}, "b"); err != nil {
				t.Fatal(err)
			}
			got := c.Shown("b")
			if !strings.HasPrefix(got, preamble) || !strings.HasSuffix(got, message) || !strings.Contains(got, "docker_sandbox") {
				t.Errorf("forked %q", got)
			}
			c.Saved("b", c.Tip("b").ID, strings.Replace(got, "set it up", "go on", 1))
			if got := c.ShownIn("b", engine.JSON); !strings.Contains(got, `"image": "x"`) {
				t.Errorf("the workspace is gone: %s", got)
			}
			original := c.Shown("a")
			if _, err := c.Rewind(t.Context(), engine.Revision{Name: "a", Message: 0}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Rewind(t.Context(), engine.Revision{Name: "a", ID: full.ID, Message: -1}); err != nil {
				t.Fatal(err)
			}
			if got := c.Shown("a"); got != original {
				t.Errorf("undone to %q", got)
			}
			c.Fsck()
		})
	}
}
