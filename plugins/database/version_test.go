package database_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// give commits a version of one table with the lines.
func give(t *testing.T, m *plugintest.Memory, cache string, lines []string) map[string]string {
	t.Helper()
	ctx := context.Background()
	w, err := m.Begin(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := database.Begin(ctx, w, cache)
	if err != nil {
		t.Fatal(err)
	}
	rows := v.Lines("t/rows", "txt")
	for _, line := range lines {
		if err := rows.Add(ctx, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.End(ctx); err != nil {
		t.Fatal(err)
	}
	if err := v.Finish(); err != nil {
		t.Fatal(err)
	}
	id, err := w.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return databasetest.Files(t, m, id)
}

// TestKnown checks that unchanged content is not written again, and that a damaged cache only
// costs time.
func TestKnown(t *testing.T) {
	m := plugintest.NewMemory()
	cache := filepath.Join(t.TempDir(), "known")
	give(t, m, cache, []string{"a\n"})
	given := m.Stored()
	if files := give(t, m, cache, []string{"a\n"}); files["t/rows.txt"] != "a\n" || m.Stored() != given {
		t.Errorf("%v, given %d times again", files, m.Stored()-given)
	}
	data, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		broken := append([]byte{}, data...)
		broken[i] ^= 1
		if err := os.WriteFile(cache, broken[:len(data)-i%3], 0o600); err != nil {
			t.Fatal(err)
		}
		if files := give(t, m, cache, []string{"a\n"}); files["t/rows.txt"] != "a\n" {
			t.Fatalf("with byte %d broken: %v", i, files)
		}
	}
}

// TestLines checks tables with equal rows and with long rows: the files have bounded sizes, no row
// is lost, and an inserted row changes few files.
func TestLines(t *testing.T) {
	var different []string
	for i := range 20000 {
		different = append(different, fmt.Sprintf("row %d\n", i))
	}
	for name, lines := range map[string][]string{
		"none": nil, "different": different, "alike": strings.SplitAfter(strings.Repeat("same\n", 200000), "\n")[:200000],
		"long": {strings.Repeat("x", 1<<20) + "\n", "y\n"},
	} {
		m := plugintest.NewMemory()
		cache := filepath.Join(t.TempDir(), "known")
		files := give(t, m, cache, lines)
		size := 0
		for path, text := range files {
			size += len(text)
			if len(text) > 300<<10 && name != "long" {
				t.Errorf("%s: %s has %d bytes", name, path, len(text))
			}
		}
		if want := len(strings.Join(lines, "")); size != want {
			t.Errorf("%s: %d bytes of %d", name, size, want)
		}
		given := m.Stored()
		give(t, m, cache, append([]string{"first\n"}, lines...))
		if n := m.Stored() - given; name == "different" && n > 2 {
			t.Errorf("%s: a row cost %d files", name, n)
		}
	}
}
