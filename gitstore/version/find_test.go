package version_test

import (
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

func TestFind(t *testing.T) {
	s, _ := newStore(t)
	large := strings.Repeat("x", chunked.Threshold+1)
	id := writeVersion(t, s, "", top(), regular(".gitattributes", "hidden"), regular("a b", "one"), directory("dir"), directory("dir/.git"),
		regular("dir/.git/HEAD", "two"), regular("large", large), symlink("link", "a b"))
	for path, want := range map[string]string{".gitattributes": "hidden", "a b": "one", "dir/.git/HEAD": "two", "large": large,
		"dir": "", "none": "", "dir/none": "", "a b/x": "", "link": "", "": "", "../a b": "", "dir/": "", ".domarkx": "", "dir//x": ""} {
		found, err := s.FindFile(id, path)
		if err != nil || (found == "") != (want == "") {
			t.Errorf("%q: %q, %v", path, found, err)
			continue
		}
		there := want != "" || path == "dir" || path == "link"
		if has, err := s.HasPath(id, path); err != nil || has != there {
			t.Errorf("%q: has %t, %v", path, has, err)
		}
		if want == "" {
			continue
		}
		c, err := s.Content(t.Context(), found)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
		if err != nil || string(data) != want {
			t.Errorf("%q: %d bytes, %v", path, len(data), err)
		}
		c.Close()
	}
	if _, err := s.FindFile(strings.Repeat("0", 39)+"1", "a"); err == nil {
		t.Error("a missing version: no error")
	}
}
