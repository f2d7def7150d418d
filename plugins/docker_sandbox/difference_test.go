package dockersandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// files parses a listing from lines "path type [inode]". A "/" after the path makes it a
// directory, lines with the same inode are hard links, and "!" stands for changed content.
func files(lines ...string) []agent.Entry {
	entries := []agent.Entry{{File: domarkx.File{Type: domarkx.Directory, Mode: 0o755}, Ino: 1, CTime: 1}}
	links := map[uint64]uint64{}
	for i, line := range lines {
		e := agent.Entry{File: domarkx.File{Type: domarkx.Regular, Mode: 0o644}, Ino: uint64(100 + i), Nlink: 1, CTime: 1}
		fields := strings.Fields(line)
		e.Path = fields[0]
		if path, ok := strings.CutSuffix(e.Path, "/"); ok {
			e.Path, e.Type, e.Mode = path, domarkx.Directory, 0o755
		}
		for _, f := range fields[1:] {
			switch {
			case f == "!":
				e.Size, e.CTime = 7, 2
			case f == "touched":
				e.CTime = 2
			case f == "socket":
				e.Type = agent.Socket
			default:
				if _, err := fmt.Sscan(f, &e.Ino); err != nil {
					panic(err)
				}
			}
		}
		links[e.Ino]++
		entries = append(entries, e)
	}
	for i := range entries {
		entries[i].Nlink = links[entries[i].Ino]
	}
	return entries
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after []string
		same          []string
		want          string // items; " - " precedes deleted paths, " ? " sockets
	}{
		{"nothing", []string{"a", "d/", "d/b"}, []string{"a", "d/", "d/b"}, nil, ""},
		{"new", []string{"d/"}, []string{"d/", "d/b !"}, nil, "/ d d/b"},
		{"changed", []string{"a", "b"}, []string{"a !", "b"}, nil, "/ a"},
		{"touched", []string{"a"}, []string{"a touched"}, nil, "/ a"},
		{"touched and the same", []string{"a"}, []string{"a touched"}, []string{"a"}, ""},
		{"gone", []string{"a", "d/", "d/b"}, nil, nil, "- a d"},
		{"gone below", []string{"d/", "d/b", "d/c/", "d/c/e"}, []string{"d/", "d/b"}, nil, "- d/c"},
		{"directory replaced by a file", []string{"d/", "d/b"}, []string{"d"}, nil, "/ d"},
		{"file replaced by a directory", []string{"d"}, []string{"d/", "d/b"}, nil, "/ d d/b"},
		{"file replaced by a socket", []string{"d"}, []string{"d socket"}, nil, "- d ? d"},
		{"linked as before", []string{"a 5", "b 5"}, []string{"a 6", "b 6"}, []string{"a", "b"}, ""},
		{"new link", []string{"a 5"}, []string{"a 5", "b 5"}, nil, "/ a b=a"},
		{"link removed", []string{"a 5", "b 5"}, []string{"b 5"}, nil, "- a"},
		{"links separated", []string{"a 5", "b 5"}, []string{"a 6", "b 7"}, []string{"a", "b"}, "/ b"},
		{"links separated, new link to one", []string{"a 5", "b 5"}, []string{"a 6 !", "b 5", "c 6 !"}, nil, "/ a c=a"},
		{"files linked", []string{"a 5", "b 6"}, []string{"a 7", "b 7"}, []string{"a", "b"}, "/ a b=a"},
		{"linked file written", []string{"a 5", "b 5"}, []string{"a 6 !", "b 6 !"}, nil, "/ a b=a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			same := map[string]bool{}
			for _, path := range c.same {
				same[path] = true
			}
			d := newBaseline(files(c.before...)).compare(files(c.after...), same)
			var got []string
			for _, it := range d.Items {
				name := it.Path
				if name == "" {
					name = "/"
				}
				if it.HardLink != "" {
					name += "=" + it.HardLink
				}
				got = append(got, name)
			}
			if len(d.Deleted) > 0 {
				got = append(append(got, "-"), d.Deleted...)
			}
			if len(d.sockets) > 0 {
				got = append(append(got, "?"), d.sockets...)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCompareRestores applies a difference to the image and expects the changed files.
func TestCompareRestores(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := tree(t, "before"), tree(t, "after")
		d := newBaseline(before).compare(after, nil)
		// As the agent does it: entries with the same inode are links to one file.
		next := uint64(1000)
		now := map[string]agent.Entry{}
		for _, e := range before {
			now[e.Path] = e
		}
		remove := func(path string) {
			maps.DeleteFunc(now, func(p string, _ agent.Entry) bool { return p == path || strings.HasPrefix(p, path+"/") })
		}
		for _, path := range d.Deleted {
			remove(path)
		}
		for _, it := range d.Items {
			if was, ok := now[it.Path]; it.Path != "" && ok && (was.Type != domarkx.Directory || it.Type != domarkx.Directory) {
				remove(it.Path)
			}
			e := it
			if next++; it.HardLink != "" {
				e.Ino = now[it.HardLink].Ino
			} else if e.Type != domarkx.Directory {
				e.Ino = next
			}
			now[it.Path] = e
		}
		if diff := cmp.Diff(shape(after), shape(slices.Collect(maps.Values(now)))); diff != "" {
			t.Fatalf("restored (-want +got):\n%s", diff)
		}
	})
}

// tree generates a random listing with few names, so that two of them overlap.
func tree(t *rapid.T, label string) []agent.Entry {
	var lines []string
	var grow func(path string, depth int)
	grow = func(path string, depth int) {
		for _, name := range []string{"a", "b", "c"} {
			switch kind := rapid.IntRange(0, 3).Draw(t, label+" "+path+name); {
			case kind == 1 && depth < 2:
				lines = append(lines, path+name+"/")
				grow(path+name+"/", depth+1)
			case kind >= 2:
				ino := rapid.IntRange(500, 504).Draw(t, "inode")
				line := fmt.Sprintf("%s%s %d", path, name, ino)
				if ino%2 == 0 { // either all links to a file have changed content, or none
					line += " !"
				}
				lines = append(lines, line)
			}
		}
	}
	grow("", 0)
	return files(lines...)
}

// shape describes the part of a listing that a restore must reproduce: everything but inode numbers, which
// only say which entries are links to one file.
func shape(entries []agent.Entry) []string {
	first := map[uint64]string{}
	slices.SortFunc(entries, func(a, b agent.Entry) int { return strings.Compare(a.Path, b.Path) })
	var lines []string
	for _, e := range entries {
		line := fmt.Sprintf("%s %v %d", e.Path, e.Type, e.Size)
		if e.Type != domarkx.Directory {
			if first[e.Ino] == "" {
				first[e.Ino] = e.Path
			}
			line += " " + first[e.Ino]
		}
		lines = append(lines, line)
	}
	return lines
}

func FuzzDeleted(f *testing.F) {
	for _, seed := range []string{"a\n", "\"a\\nb\"\n", "\"\\351\"\n", "a/b\nc\n", "\"\n", "a", "\"\\\"\\\\\"\n", "../x\n", "\"\\9\"\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths, err := readDeleted(text)
		if err != nil {
			return
		}
		again, err := readDeleted(writeDeleted(paths))
		if err != nil || !slices.Equal(paths, again) {
			t.Errorf("%q reads as %q, then as %q, %v", text, paths, again, err)
		}
	})
}

func TestDeleted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOf(rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 8), func(b []byte) string { return string(b) }).Filter(isPath)).Draw(t, "paths")
		got, err := readDeleted(writeDeleted(paths))
		if err != nil || !slices.Equal(got, paths) {
			t.Fatalf("%q became %q, %v", paths, got, err)
		}
	})
}
