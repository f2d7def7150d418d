//go:build linux

package dirversion_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"pgregory.net/rapid"
)

// limited opens the directory of a place with limits.
func limited(t *testing.T, p *place, l domarkx.Limits) {
	t.Helper()
	f, err := dirversion.Open(dirversion.Config{Path: p.path, Cache: p.cache, Limits: l, Warn: func(m string) { p.warned = append(p.warned, m) }})
	must(t, err)
	t.Cleanup(func() { f.Close() })
	p.f = f
}

// size returns the number of files in a version, without its top, and their bytes.
func size(t *testing.T, m *plugintest.Memory, version string) (files, bytes int64) {
	t.Helper()
	must(t, domarkx.WalkVersion(t.Context(), m, version, func(path string, f domarkx.File) error {
		if path != "" {
			files++
		}
		if f.HardLink == "" {
			bytes += f.Size
		}
		return nil
	}))
	return files, bytes
}

// TestLimits commits any tree under any limits: the version keeps them, nothing that fits is left out, the same files give the same
// version, and a load of a version touches nothing that is left out.
func TestLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := plugintest.NewMemory()
		p := newPlace(t, m)
		var all, bytes int64
		seen := map[string]bool{}
		for range rapid.IntRange(1, 25).Draw(rt, "files") {
			name := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2).Draw(rt, "in"), "/")
			name = filepath.Join(name, "f"+fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "name")))
			if seen[name] {
				continue
			}
			for at := name; at != "." && !seen[at]; at = filepath.Dir(at) {
				seen[at] = true
				all++
			}
			n := rapid.IntRange(0, 100).Draw(rt, "size")
			p.write(name, strings.Repeat("x", n))
			bytes += int64(n)
		}
		l := domarkx.Limits{Files: rapid.Int64Range(1, 30).Draw(rt, "most"), Version: rapid.Int64Range(1, 1500).Draw(rt, "bytes")}
		limited(t, p, l)
		version := p.commit()
		left := p.f.LeftOut()
		files, stored := size(t, m, version)
		if files > l.Files || stored > l.Version {
			rt.Fatalf("%d files, %d bytes of %+v", files, stored, l)
		}
		if fits := all <= l.Files && bytes <= l.Version; fits != (len(left) == 0) || fits && (files != all || stored != bytes) {
			rt.Fatalf("%d of %d files, %d of %d bytes, limits %+v, left out %v", files, all, stored, bytes, l, left)
		}
		before := tree(t, p.path)
		must(t, p.f.Load(t.Context(), m, version))
		if after := tree(t, p.path); !maps.Equal(before, after) {
			rt.Fatalf("a load changed %v to %v", before, after)
		}
		if again := p.commit(); again != version {
			rt.Fatalf("another version of the same files: %s, %s", version, again)
		}
	})
}

// tree returns the sizes of all files.
func tree(t *testing.T, top string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	must(t, filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files[path] = info.Size()
		} else if err == nil {
			files[path] = -1
		}
		return err
	}))
	return files
}
