//go:build linux

package dirversion_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// made returns a version with files at these paths, sorted, as another machine may have written it.
func made(t *testing.T, m *plugintest.Memory, paths ...string) string {
	t.Helper()
	w, err := m.Begin(t.Context(), "")
	must(t, err)
	must(t, w.Add(t.Context(), "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}))
	directories := map[string]bool{".": true}
	for _, path := range paths {
		if directory := filepath.Dir(path); !directories[directory] {
			directories[directory] = true
			must(t, w.Add(t.Context(), directory, domarkx.File{Type: domarkx.Directory, Mode: 0o755}))
		}
		id, size, err := w.Content(t.Context(), strings.NewReader(path))
		must(t, err)
		must(t, w.Add(t.Context(), path, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size}))
	}
	version, err := w.Finish(t.Context())
	must(t, err)
	return version
}

// TestNamesThatDoNotFit checks that names which the file system cannot hold are refused before
// anything changes.
func TestNamesThatDoNotFit(t *testing.T) {
	m := plugintest.NewMemory()
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		paths        []string
		cases, forms bool
		want         []string // what the error names; none for no error
	}{
		{[]string{"a", "b/" + long}, false, false, []string{long, "300 bytes", "too long"}},
		{[]string{"a", "b/" + long[:250]}, false, false, nil},
		{[]string{"README", "b/ReadMe", "b/Readme"}, true, false, []string{`"b/ReadMe" and "b/Readme" are the same name`}},
		{[]string{"README", "b/ReadMe", "b/Readme"}, false, true, nil},
		{[]string{"README", "b/readme"}, true, true, nil},
		{[]string{"e\u0301", "\u00e9"}, false, true, []string{"same name"}},
		{[]string{"e\u0301", "\u00e9"}, true, false, nil},
		{[]string{"E\u0301", "\u00e9"}, true, true, []string{"same name"}},
	} {
		p := newPlace(t, m)
		p.f.SetSame(tt.cases, tt.forms)
		p.write("mine", "x")
		err := p.f.Load(t.Context(), m, made(t, m, tt.paths...))
		if tt.want == nil {
			must(t, err)
			continue
		}
		for _, want := range tt.want {
			if !errors.Is(err, domarkx.ErrUnsupported) || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: %v", tt.paths, err)
			}
		}
		files, err := os.ReadDir(p.path)
		if err != nil || len(files) != 1 || files[0].Name() != "mine" {
			t.Errorf("%.40q: left %v, %v", tt.paths, files, err)
		}
	}
	// Only changed directories are checked.
	c := newPlace(t, m)
	must(t, c.f.CheckLoad(t.Context(), m, made(t, m, "a/"+long, "b/c"), made(t, m, "a/"+long, "b/d")))
	if err := c.f.CheckLoad(t.Context(), m, made(t, m, "a/b", "b/c"), made(t, m, "a/b", "b/"+long)); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Error(err)
	}
	// Excluded files are not checked.
	p := newPlace(t, m, "x*")
	must(t, p.f.Load(t.Context(), m, made(t, m, "a", "b/"+long)))
	if _, err := os.Stat(filepath.Join(p.path, "a")); err != nil {
		t.Error(err)
	}
	// Find out how the file system here compares names.
	q := newPlace(t, m)
	must(t, q.f.Load(t.Context(), m, made(t, m, "A", "a")))
	if files, err := os.ReadDir(q.path); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
}
