package scan_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

// planted returns a made-up secret, put together here.
func planted(n int) string {
	const digits = "R7d0eW5tYu2gHj4KlMn6BvCx8ZaQ1oP3iUyT"
	return "gh" + "p_" + digits[n:] + digits[:n]
}

// raw returns the contents of all objects that commits lead to.
func (d *desk) raw(tips []string) string {
	d.T.Helper()
	cmd := exec.Command("sh", "-c", "git rev-list --objects --no-object-names --stdin | git cat-file --batch")
	cmd.Dir, cmd.Stdin = d.Dir, strings.NewReader(strings.Join(tips, "\n")+"\n")
	out, err := cmd.Output()
	if err != nil {
		d.T.Fatal(err)
	}
	return string(out)
}

// TestRawSearch plants secrets anywhere in random histories, removes, renames and restores what has them. After each step a
// scan reports exactly the secrets that a raw search finds in the objects, whether or not it has a cache; and what it reports
// as new since a commit has all that a raw search finds only there.
func TestRawSearch(t *testing.T) {
	for seed := range 2 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			random := rand.New(rand.NewPCG(uint64(seed), 3))
			next := 0
			text := func() string {
				if random.IntN(2) == 0 {
					return "plain text"
				}
				next++
				return "with " + planted(next) + " in it"
			}
			d.ImportFile(d.WriteFile("s.md", "## user\n\n"+text()+"\n"))
			scanner, err := scan.New(d.Store, d.Env).Scanner(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for range 8 {
				before := d.tips("s")
				switch random.IntN(6) {
				case 0:
					d.Appended("s", text())
				case 1: // a message is removed or changed
					d.Saved("s", d.Tip("s").ID, "## user\n\n"+text()+"\n")
				case 2:
					name := fmt.Sprint("f", random.IntN(3))
					if files[name] = text(); random.IntN(3) == 0 {
						delete(files, name)
						files["moved/"+name] = text()
					}
					d.Committed("s", enginetest.WorkTree, maps.Clone(files), domarkx.VersionCommit{Operation: "call"})
				case 3:
					next++
					files[planted(next)] = "named"
					d.Committed("s", enginetest.WorkTree, maps.Clone(files), domarkx.VersionCommit{Operation: "call"})
				case 4:
					d.WriteFile("part.md", text()+"\n")
					d.Saved("s", d.Tip("s").ID, "---\nnote: "+text()+"\n---\n\n## user\n\nHello.\n")
				case 5:
					d.ImportOne(importer.Request{As: "s", Paths: []string{d.WriteFile("s.md", d.Shown("s")+"\n## user\n\nMore.\n")}, Attach: []string{d.WriteFile(fmt.Sprint("a", random.IntN(99), ".txt"), text()+"\n")}})
				}
				all, found := d.raw(d.tips("s")), map[string]bool{}
				for _, f := range d.found("s") {
					found[f.Fingerprint] = true
				}
				uncached := scan.New(d.Store, d.Env)
				for _, f := range must(uncached.Unsent(t.Context(), transfer.Outgoing{Session: "s", Tips: d.tips("s")})) {
					if !found[f.Fingerprint] {
						t.Errorf("a push finds %+v, a scan does not", f)
					}
				}
				unsent := map[string]bool{}
				for _, f := range must(uncached.Unsent(t.Context(), transfer.Outgoing{Session: "s", Tips: d.tips("s"), Known: before})) {
					unsent[f.Fingerprint] = true
				}
				for n := range next {
					s := planted(n + 1)
					fingerprint := scanner.Text([]byte(s))[0].Fingerprint
					if there := strings.Contains(all, s); there != found[fingerprint] {
						t.Errorf("secret %d: a raw search finds it %t, a scan %t", n+1, there, found[fingerprint])
					}
					if strings.Contains(all, s) && !strings.Contains(d.raw(before), s) && !unsent[fingerprint] {
						t.Errorf("secret %d is new, and would be sent unseen", n+1)
					}
				}
			}
			if next == 0 {
				t.Error("nothing was planted")
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestGate keeps back what has a secret, and collects the findings of all that it was asked about.
func TestGate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("clean", "Nothing.")
	d.Appended("one", github)
	d.Appended("two", gitlab)
	g := &scan.Gate{Manager: scan.New(d.Store, d.Env)}
	for _, tt := range []struct {
		name  string
		ok    bool
		found int
	}{{"clean", true, 0}, {"one", false, 1}, {"two", false, 2}, {"clean", true, 2}} {
		ok, err := g.Inspect(t.Context(), transfer.Outgoing{Session: tt.name, Tips: d.tips(tt.name)})
		if ok != tt.ok || err != nil || len(g.Found) != tt.found {
			t.Errorf("%s: %t, %v, found %+v", tt.name, ok, err, g.Found)
		}
	}
	if ok, err := g.Inspect(t.Context(), transfer.Outgoing{Session: "one", Tips: []string{strings.Repeat("0", 40)}}); ok && err == nil {
		t.Error("what cannot be read is let through")
	}
}

// TestForks scans a fork: it has the secrets of the session from which it began, at the places that they have there.
func TestForks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	if _, err := d.Fork(t.Context(), engine.Revision{Name: "s", Message: -1}, "fork"); err != nil {
		t.Fatal(err)
	}
	d.Appended("fork", gitlab)
	d.Appended("s", "More.")
	one, both := d.found("s"), d.found("fork")
	if len(one) != 1 || len(both) != 2 || one[0].Fingerprint != both[0].Fingerprint || both[0].Session != "fork" || both[1].Message != 1 {
		t.Errorf("%+v and %+v", one, both)
	}
}

// TestLargeContainer scans an archive that is larger than the parts in which other content is read: it is read as a whole.
func TestLargeContainer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, scan.PartSize+1000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(append(data, "\n"+github+"\n"...))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	d.Appended("s", "Begin.")
	d.Committed("s", enginetest.WorkTree, map[string]string{"a.gz": b.String(), "b": string(data) + "\n" + gitlab}, domarkx.VersionCommit{Operation: "call"})
	found := d.found("s")
	where := []string{}
	for _, f := range found {
		where = append(where, f.Where[:strings.Index(f.Where, " in workspace")])
	}
	slices.Sort(where)
	if !slices.Equal(where, []string{"files/a.gz, gzip", "files/b"}) {
		t.Errorf("%q", where)
	}
}

// FuzzPlaceIn looks for JSON and offsets that panic.
func FuzzPlaceIn(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"}]}`), 30)
	f.Add([]byte(`{"a":{"b":[[1]]}}]]`), 99)
	f.Add([]byte("}"), 0)
	f.Fuzz(func(t *testing.T, data []byte, offset int) {
		if place := scan.PlaceIn(data, offset); strings.Count(place, ".") > len(data) {
			t.Errorf("%q", place)
		}
	})
}

// FuzzIsDigest looks for files of entries that panic.
func FuzzIsDigest(f *testing.F) {
	f.Add([]byte("a b c\n"), 2, 3)
	f.Add([]byte("\n"+strings.Repeat("a", 32)+" "+strings.Repeat("b", 43)+" 95 1\n"), 34, 60)
	f.Fuzz(func(t *testing.T, entries []byte, start, end int) {
		if start < 0 || end < start || end > len(entries) {
			t.Skip()
		}
		if scan.IsDigest(entries, start, end) && bytes.ContainsAny(entries[start:end], " \n") {
			t.Errorf("%q at %d is a digest", entries, start)
		}
	})
}
