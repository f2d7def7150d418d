package refdb_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// FuzzPackedRefs checks that List returns an error for any content of packed-refs, or a list
// whose references Read finds if the file is sorted.
func FuzzPackedRefs(f *testing.F) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	f.Add("# pack-refs with: peeled fully-peeled sorted \n" + id + " refs/domarkx/sessions/a\n^" + id + "\n" + id + " refs/tags/b\n")
	f.Add(id + " refs/domarkx/b\n" + id + " refs/domarkx/a\n")
	f.Add(id + " refs/domarkx/../x\n")
	f.Add("# pack-refs with: sorted\n" + strings.Repeat(id+" refs/domarkx/a\n", 1000))
	f.Fuzz(func(t *testing.T, content string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		refs := refdb.Open(t.Context(), &gitcmd.Git{GitDir: dir, CommonDir: dir})
		list, err := refs.List("refs/domarkx/")
		if err != nil {
			return
		}
		sorted := slices.IsSortedFunc(list, func(a, b refdb.Ref) int { return strings.Compare(a.Name, b.Name) })
		for i, ref := range list {
			if !strings.HasPrefix(ref.Name, "refs/domarkx/") || refdb.CheckName(ref.Name) != nil {
				t.Errorf("List has %q", ref.Name)
			}
			if unique := i == 0 || list[i-1].Name != ref.Name; !sorted || !unique || strings.HasPrefix(content, "# pack-refs") {
				continue // the file claims to be sorted and is not
			}
			if _, ok, err := refs.Read(ref.Name); !ok || err != nil {
				t.Errorf("Read(%q) = %v, %v", ref.Name, ok, err)
			}
		}
	})
}

func FuzzJournal(f *testing.F) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	f.Add([]byte(`{"format":1,"pid":1,"changes":[{"ref":"refs/domarkx/sessions/a","old":"","new":"` + id + `"}]}` + "\n"))
	f.Add([]byte(`{"format":1,"prefixes":["refs/domarkx-remotes/x/"],"files":["shallow.lock"]}` + "\n"))
	f.Add([]byte("null\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		refdb.ParseJournal(data)
		refdb.ParseRecord(string(data))
	})
}
