package importer_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

const (
	phoneSession = "# OpenPocket Session\n\n- id: 20260218-130000\n- started_at: 2026-02-18T05:00:00.120Z\n- model_profile: p\n- model_name: m\n\n" +
		"## Task\n\nT\n\n## Steps\n\n"
	phoneStep = "### Step 1\n\n- at: 2026-02-18T05:00:04.000Z\n- thought:\n```text\nhm\n```\n- action:\n```json\n{}\n```\n" +
		"- execution_result:\n```text\nok\nlocal_screenshot=/x/a.png\n```\n"
	phoneFinal = "## Final\n\n- status: SUCCESS\n- ended_at: 2026-02-18T05:00:20.000Z\n\n### Message\n\nDone.\n"
)

// phone creates an OpenPocket home outside the work tree.
func phone(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

const phoneName = "workspace/sessions/session-20260218-130000"

// importPhone imports a home and returns the result and the names of the workspaces.
func (c *clone) importPhone(dir string) (importer.Result, []string) {
	c.T.Helper()
	result, err := c.Import(c.T.Context(), importer.Request{Paths: []string{dir}})
	if err != nil {
		c.T.Fatal(err)
	}
	for _, bad := range result.Bad {
		c.T.Errorf("bad: %v", bad)
	}
	var names []string
	for _, k := range result.Kept {
		names = append(names, k.Version.Workspace)
	}
	return result, names
}

// held returns the files of the version that message k of the session links.
func (c *clone) held(k int) []string {
	c.T.Helper()
	v, err := c.VersionAt(c.T.Context(), engine.Revision{Name: phoneName, Message: k})
	if err != nil {
		c.T.Fatal(err)
	}
	var paths []string
	err = domarkx.WalkVersion(c.T.Context(), c.Store, v.Resources[0].Version, func(path string, f domarkx.File) error {
		if f.Type != domarkx.Directory {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		c.T.Fatal(err)
	}
	return paths
}

func TestImportHomeOnlyWhatChanged(t *testing.T) {
	c := newClone(t)
	dir := phone(t, map[string]string{phoneName + ".md": phoneSession + phoneStep, "state/screenshots/a.png": "one", "workspace/AGENTS.md": "## user\n\nx\n", "state/token": "secret"})
	if _, names := c.importPhone(dir); !slices.Equal(names, []string{"openpocket"}) {
		t.Fatalf("kept %q", names)
	}
	first := c.Tip(phoneName)
	want := []string{"state/screenshots/a.png", "workspace/AGENTS.md", phoneName + ".md"}
	if got := c.held(1); !slices.Equal(got, want) {
		t.Errorf("the version holds %q, expected %q", got, want)
	}
	if _, names := c.importPhone(dir); names != nil || c.Tip(phoneName).ID != first.ID {
		t.Errorf("imported again: kept %q", names)
	}

	// A file with the same size and another time, and a session that grew.
	write(t, filepath.Join(dir, "state/screenshots/a.png"), "two")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "state/screenshots/a.png"), old, old); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, phoneName+".md"), phoneSession+phoneStep+strings.Replace(phoneStep, "Step 1", "Step 2", 1)+phoneFinal)
	if _, names := c.importPhone(dir); !slices.Equal(names, []string{"openpocket"}) {
		t.Fatalf("kept %q", names)
	}
	one, err := c.VersionAt(t.Context(), engine.Revision{Name: phoneName, Message: 1})
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.VersionAt(t.Context(), engine.Revision{Name: phoneName, Message: 2})
	if err != nil {
		t.Fatal(err)
	}
	if one.ID == two.ID || !slices.Equal(two.Parents, []string{one.ID}) {
		t.Errorf("the first step leads to %s, the second to %s with parents %q", one.ID, two.ID, two.Parents)
	}

	// The record on this machine is only a cache.
	git := filepath.Join(c.Dir, ".git")
	err = filepath.WalkDir(git, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "homes.json" {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, names := c.importPhone(dir); names != nil {
		t.Errorf("without what was remembered: kept %q", names)
	}
	write(t, filepath.Join(dir, "state/screenshots/b.png"), "b")
	if _, names := c.importPhone(dir); !slices.Equal(names, []string{"openpocket"}) {
		t.Errorf("after what was remembered was found again: kept %q", names)
	}
}

// A picture that arrives later, with a session that was first imported without it.
func TestImportHomeLater(t *testing.T) {
	c := newClone(t)
	dir := phone(t, map[string]string{phoneName + ".md": phoneSession + phoneStep + phoneFinal})
	if _, names := c.importPhone(dir); names != nil {
		t.Errorf("sessions alone: kept %q", names)
	}
	first := c.Tip(phoneName)
	write(t, filepath.Join(dir, "workspace/memory/2026-02-18.md"), "# Memory 2026-02-18\n\n")
	c.importPhone(dir)
	second := c.Tip(phoneName)
	if second.ID == first.ID || second.Messages != first.Messages {
		t.Errorf("before %+v, after %+v", first, second)
	}
	if _, err := c.VersionAt(t.Context(), engine.Revision{Name: phoneName, Message: 1}); err == nil {
		t.Error("a step whose picture is not there leads to a version")
	}
	c.held(2)
	write(t, filepath.Join(dir, "workspace/other"), "x")
	if _, names := c.importPhone(dir); names == nil || c.Tip(phoneName).ID != second.ID {
		t.Errorf("a file that no message names: kept %q, and the session is %+v", names, c.Tip(phoneName))
	}
}

func TestImportHomesOfOneName(t *testing.T) {
	c := newClone(t)
	var dirs []string
	for _, task := range []string{"a", "b"} {
		dirs = append(dirs, phone(t, map[string]string{"sessions/session-20260218-130000.md": strings.Replace(phoneSession, "\nT\n", "\n"+task+"\n", 1) + phoneFinal, "AGENTS.md": task}))
	}
	c.Appended("openpocket-2", "a session of that name")
	for i, want := range []string{"openpocket", "openpocket-3"} {
		if _, names := c.importPhone(dirs[i]); !slices.Equal(names, []string{want}) {
			t.Errorf("home %d: kept %q, expected %s", i, names, want)
		}
	}
	for i := range dirs {
		if _, names := c.importPhone(dirs[i]); names != nil {
			t.Errorf("home %d again: kept %q", i, names)
		}
	}
}

// Nothing outside the named directory is read, even through links.
func TestImportHomeStaysInside(t *testing.T) {
	c := newClone(t)
	outside := phone(t, map[string]string{"a.png": "secret", "x/y": "secret"})
	dir := phone(t, map[string]string{phoneName + ".md": phoneSession + strings.Replace(phoneStep, "/x/a.png", outside+"/a.png", 1) + phoneFinal, "workspace/AGENTS.md": "x"})
	for link, target := range map[string]string{"state": outside, "workspace/cron": outside, "workspace/skills.md": filepath.Join(outside, "a.png")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	result, _ := c.importPhone(dir)
	if len(result.Kept) != 1 || len(result.Warnings) != 2 { // the two parts in state
		t.Fatalf("kept %v, warnings %v", result.Kept, result.Warnings)
	}
	v, err := c.ResolveVersion(t.Context(), engine.Revision{Name: "openpocket", Message: -1})
	if err != nil {
		t.Fatal(err)
	}
	err = domarkx.WalkVersion(t.Context(), c.Store, v.Resources[0].Version, func(path string, f domarkx.File) error {
		if f.Type != domarkx.Regular {
			return nil
		}
		content, err := c.Store.Content(t.Context(), f.ID)
		if err != nil {
			return err
		}
		defer content.Close()
		data := make([]byte, content.Size())
		if _, err := content.ReadAt(data, 0); err == nil && strings.Contains(string(data), "secret") {
			t.Errorf("%s holds what is outside", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
