package database_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// give commits a version of one table with the lines.
func give(t *testing.T, m *plugintest.Memory, lines []string) map[string]string {
	t.Helper()
	ctx := context.Background()
	w, err := m.Begin(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := database.Begin(ctx, w)
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
	id, err := w.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return databasetest.Files(t, m, id)
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
		files := give(t, m, lines)
		contents := slices.Collect(maps.Values(files))
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
		n := 0
		for _, content := range give(t, m, append([]string{"first\n"}, lines...)) {
			if !slices.Contains(contents, content) {
				n++
			}
		}
		if name == "different" && n > 2 {
			t.Errorf("%s: a row cost %d files", name, n)
		}
	}
}
