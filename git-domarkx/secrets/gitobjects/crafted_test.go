package gitobjects_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // ids of Git objects
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets/gitobjects"
)

// The types of the entries of a pack (gitformat-pack(5)).
const (
	commitEntry = iota + 1
	treeEntry
	blobEntry
	tagEntry
	reservedEntry
	offsetEntry
	refEntry
)

// An item is an entry of a pack that a test makes.
type item struct {
	kind    int
	content string // of a delta, its instructions
	base    int    // of an offset delta, the number of the item
	baseID  string // of a delta by id, in binary
	size    int    // declared in place of the true one, if not 0
}

func deflated(content string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := w.Write([]byte(content))
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.String()
}

// packOf returns a pack that says it has count entries.
func packOf(version, count int, items ...item) string {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), uint32(version)), uint32(count))
	var starts []int
	for _, it := range items {
		starts = append(starts, len(b))
		size := len(it.content)
		if it.size > 0 {
			size = it.size
		}
		c := byte(it.kind<<4 | size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b = append(b, c|0x80)
			c = byte(size & 0x7f)
		}
		b = append(b, c)
		switch it.kind {
		case offsetEntry:
			distance := starts[len(starts)-1] + 1000 // before the pack, for a base that does not exist
			if it.base >= 0 {
				distance = starts[len(starts)-1] - starts[it.base]
			}
			encoded := []byte{byte(distance & 0x7f)}
			for distance >>= 7; distance > 0; distance >>= 7 {
				distance--
				encoded = append(encoded, byte(distance&0x7f)|0x80)
			}
			slices.Reverse(encoded)
			b = append(b, encoded...)
		case refEntry:
			b = append(b, it.baseID...)
		}
		b = append(b, deflated(it.content)...)
	}
	sum := sha1.Sum(b) //nolint:gosec // the trailer of a pack
	return string(append(b, sum[:]...))
}

// inserting returns the instructions of a delta that copies the base and inserts a text.
func inserting(base, text string) string {
	size := func(n int) (b []byte) {
		for ; n >= 0x80; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		return append(b, byte(n))
	}
	b := append(size(len(base)), size(len(base)+len(text))...)
	b = append(b, 0x90, byte(len(base)), byte(len(text)))
	return string(append(b, text...))
}

func idOf(kind, content string) string {
	sum := sha1.Sum([]byte(fmt.Sprintf("%s %d\x00%s", kind, len(content), content))) //nolint:gosec // the id of an object
	return string(sum[:])
}

// TestCraftedPacks reads packs that git would not write: each object that can be read is found, and what cannot is an error.
func TestCraftedPacks(t *testing.T) {
	const base = "the base\n"
	blob := item{kind: blobEntry, content: base}
	tree := "100644 a name\x00" + strings.Repeat("\x01", 20) + "40000 dir\x00" + strings.Repeat("\x02", 20)
	for name, tt := range map[string]struct {
		pack  string
		found []string
		err   error
	}{
		"empty":                          {packOf(2, 0), nil, nil},
		"each type":                      {packOf(2, 4, item{kind: commitEntry, content: "tree x\n\nmessage\n"}, item{kind: treeEntry, content: tree}, blob, item{kind: tagEntry, content: "about\n"}), []string{"commit tree x\n\nmessage\n", "tree a name\ndir\n", "blob " + base, "tag about\n"}, nil},
		"version 3":                      {packOf(3, 1, blob), []string{"blob " + base}, nil},
		"version 4":                      {packOf(4, 1, blob), nil, domarkx.ErrUnsupported},
		"a tree that is none":            {packOf(2, 1, item{kind: treeEntry, content: "a secret"}), []string{"tree a secret"}, nil},
		"an offset delta":                {packOf(2, 2, blob, item{kind: offsetEntry, content: inserting(base, "more\n")}), []string{"blob " + base, "blob " + base + "more\n"}, nil},
		"deltas of a delta":              {packOf(2, 4, blob, item{kind: offsetEntry, content: inserting(base, "1")}, item{kind: offsetEntry, base: 1, content: inserting(base+"1", "2")}, item{kind: offsetEntry, base: 1, content: inserting(base+"1", "3")}), []string{"blob " + base, "blob " + base + "1", "blob " + base + "12", "blob " + base + "13"}, nil},
		"a delta before its base":        {packOf(2, 2, item{kind: refEntry, baseID: idOf("blob", base), content: inserting(base, "x")}, blob), []string{"blob " + base, "blob " + base + "x"}, nil},
		"a delta of a delta by its id":   {packOf(2, 3, item{kind: refEntry, baseID: idOf("blob", base+"x"), content: inserting(base+"x", "y")}, item{kind: refEntry, baseID: idOf("blob", base), content: inserting(base, "x")}, blob), []string{"blob " + base, "blob " + base + "x", "blob " + base + "xy"}, nil},
		"an object twice":                {packOf(2, 2, blob, blob), []string{"blob " + base, "blob " + base}, nil},
		"a base elsewhere":               {packOf(2, 1, item{kind: refEntry, baseID: idOf("blob", "other"), content: inserting("other", "inserted")}), []string{"delta \ninserted"}, nil},
		"a delta against itself":         {packOf(2, 1, item{kind: refEntry, baseID: strings.Repeat("\x07", 20), content: inserting("", "inserted")}), []string{"delta \ninserted"}, nil},
		"an offset to nowhere":           {packOf(2, 2, blob, item{kind: offsetEntry, base: -1, content: inserting(base, "inserted")}), []string{"blob " + base}, domarkx.ErrCorrupt},
		"a delta of another size":        {packOf(2, 2, blob, item{kind: offsetEntry, content: inserting(base+"x", "inserted")}), []string{"blob " + base, "delta \ninserted"}, domarkx.ErrCorrupt},
		"a delta that copies too much":   {packOf(2, 2, blob, item{kind: offsetEntry, content: "\x09\x20\x90\x20"}), []string{"blob " + base, "delta \n"}, domarkx.ErrCorrupt},
		"a declared size that is larger": {packOf(2, 1, item{kind: blobEntry, content: base, size: 12}), nil, domarkx.ErrCorrupt},
		"one that is smaller":            {packOf(2, 1, item{kind: blobEntry, content: base, size: 3}), nil, domarkx.ErrCorrupt},
		"one that is impossible":         {packOf(2, 1, item{kind: blobEntry, content: base, size: 100 << 20}), nil, domarkx.ErrCorrupt},
		"a large delta to nowhere":       {packOf(2, 1, item{kind: offsetEntry, base: -1, content: base, size: 200 << 20}), nil, domarkx.ErrCorrupt},
		"a reserved type":                {packOf(2, 1, item{kind: reservedEntry, content: base}), nil, domarkx.ErrCorrupt},
		"an object more than it says":    {packOf(2, 1, blob, blob), []string{"blob " + base}, domarkx.ErrCorrupt},
		"an object less than it says":    {packOf(2, 2, blob), []string{"blob " + base}, domarkx.ErrCorrupt},
		"as many as there can be":        {packOf(2, 1<<31, blob), []string{"blob " + base}, domarkx.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			left := int64(plenty)
			var found []string
			err := gitobjects.Read([]byte(tt.pack), &left, func(o gitobjects.Object) {
				if o.Kind != "rest" {
					found = append(found, o.Kind+" "+string(o.Content))
				}
			})
			if !errors.Is(err, tt.err) {
				t.Errorf("%v, want %v", err, tt.err)
			}
			slices.Sort(found)
			slices.Sort(tt.found)
			if !slices.Equal(found, tt.found) {
				t.Errorf("found %q, want %q", found, tt.found)
			}
		})
	}
}

// TestSHA256Pack reads a pack whose checksum says that its ids are SHA-256.
func TestSHA256Pack(t *testing.T) {
	pack := packOf(2, 1, item{kind: blobEntry, content: "text\n"})
	body := pack[:len(pack)-sha1.Size]
	sum := sha256.Sum256([]byte(body))
	for _, o := range read(t, append([]byte(body), sum[:]...)) {
		if want := sha256.Sum256([]byte("blob 5\x00text\n")); o.ID != fmt.Sprintf("%x", want) {
			t.Errorf("%s", o)
		}
	}
}

// TestChangedPack changes each byte of a pack: the objects are those of the pack, or there is an error.
func TestChangedPack(t *testing.T) {
	whole := packOf(2, 3, item{kind: blobEntry, content: "the base\n"}, item{kind: offsetEntry, content: inserting("the base\n", "more\n")}, item{kind: commitEntry, content: "a commit\n"})
	list := func(content []byte) (found []string, err error) {
		left := int64(plenty)
		err = gitobjects.Read(content, &left, func(o gitobjects.Object) { found = append(found, string(o.Content)) })
		slices.Sort(found)
		return found, err
	}
	want, err := list([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) - sha1.Size {
		for _, bit := range []byte{1, 0x80} {
			changed := []byte(whole)
			changed[i] ^= bit
			if got, err := list(changed); err == nil && !slices.Equal(got, want) && !slices.Contains([]int{12, 13}, i) && len(got) < len(want) {
				t.Errorf("byte %d: %q without an error", i, got)
			} else if err != nil && !expected(err) {
				t.Errorf("byte %d: %v", i, err)
			}
		}
		if _, err := list([]byte(whole[:i])); err == nil {
			t.Errorf("%d bytes of it: no error", i)
		}
	}
}

// TestLoose reads loose objects, also with what follows their end, and such with a wrong header.
func TestLoose(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		found   []string
		err     error
	}{
		"a blob":                 {deflated("blob 4\x00text"), []string{"blob text"}, nil},
		"an empty blob":          {deflated("blob 0\x00"), []string{"blob "}, nil},
		"a tree":                 {deflated("tree 29\x00100644 a\x00" + strings.Repeat("x", 20)), []string{"tree a\n"}, nil},
		"a tree that is none":    {deflated("tree 4\x00text"), []string{"tree text"}, nil},
		"followed by text":       {deflated("blob 4\x00text") + "a secret", []string{"blob text", "rest a secret"}, nil},
		"a size that is larger":  {deflated("blob 9\x00text"), []string{"blob text"}, domarkx.ErrCorrupt},
		"a size that is smaller": {deflated("blob 1\x00text"), []string{"blob text"}, domarkx.ErrCorrupt},
		"without its checksum":   {deflated("blob 4\x00text")[:len(deflated("blob 4\x00text"))-4], []string{"blob text"}, domarkx.ErrCorrupt},
	} {
		left := int64(plenty)
		var found []string
		err := gitobjects.Read([]byte(tt.content), &left, func(o gitobjects.Object) { found = append(found, o.Kind+" "+string(o.Content)) })
		if !errors.Is(err, tt.err) || !slices.Equal(found, tt.found) {
			t.Errorf("%s: %q, %v, want %q, %v", name, found, err, tt.found, tt.err)
		}
	}
	for _, text := range []string{"blob\x004", "blob -1\x00text", "blob 4x\x00text", "note 4\x00text", "blob  4\x00text", "blob 4", strings.Repeat("blob", 20) + " 4\x00text", "just text"} {
		if gitobjects.Recognized([]byte(deflated(text))) {
			t.Errorf("%q is recognized", text)
		}
	}
}

// TestLargeObjects reads objects that are larger than a part: a text is whole in one of the parts wherever it stands.
func TestLargeObjects(t *testing.T) {
	const size = 17 << 20
	const mark = "the text that is searched for"
	for _, at := range []int{8<<20 - 10, 16<<20 - 1, size - len(mark)} {
		content := bytes.Repeat([]byte("x"), size)
		copy(content[at:], mark)
		whole, total := 0, 0
		left := int64(plenty)
		err := gitobjects.Read([]byte(deflated(fmt.Sprintf("blob %d\x00", size)+string(content))), &left, func(o gitobjects.Object) {
			whole += bytes.Count(o.Content, []byte(mark))
			total += len(o.Content)
		})
		if err != nil || whole < 1 || total < size || left != plenty-size {
			t.Errorf("at %d: found %d times in %d bytes, %d left: %v", at, whole, total, left, err)
		}
	}
}

// TestString checks how an object is named in findings.
func TestString(t *testing.T) {
	for want, o := range map[string]gitobjects.Object{"header": {Kind: "header"}, "blob 0123456789ab": {Kind: "blob", ID: "0123456789abcdef"}, "tag 01": {Kind: "tag", ID: "01"}} {
		if o.String() != want {
			t.Errorf("%q, want %q", o.String(), want)
		}
	}
}
