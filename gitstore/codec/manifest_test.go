package codec_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/codec"
)

var version = strings.Repeat("0a", 20)

// resource returns a valid version of a resource.
func resource(id string) domarkx.ResourceVersion {
	return domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: id, Type: "t", Config: jsonvalue.ObjectValue()}, Version: version}
}

func TestManifestEncoding(t *testing.T) {
	r := resource("db")
	r.Config = r.Config.With("b", jsonvalue.NumberValue("1.0")).With("a", jsonvalue.StringValue("\n"))
	want := `{
  "format": 1,
  "resources": [
    {
      "id": "db",
      "type": "t",
      "config": {
        "b": 1.0,
        "a": "\n"
      },
      "version": "` + version + `"
    }
  ]
}
`
	got := codec.EncodeManifest([]domarkx.ResourceVersion{r})
	if string(got) != want {
		t.Errorf("the manifest is\n%s, expected\n%s", got, want)
	}
	back, err := codec.DecodeManifest(got)
	if err != nil || len(back) != 1 || back[0].ID != r.ID || back[0].Type != r.Type || back[0].Version != r.Version || back[0].Config.JSON() != r.Config.JSON() {
		t.Errorf("decoded: %+v, %v", back, err)
	}
	for old, c := range map[string]struct {
		new  string
		want error
	}{
		`"format": 1`:     {`"format": 2`, domarkx.ErrUnsupported},
		`"format": 1,`:    {`"format": "1",`, domarkx.ErrCorrupt},
		"  \"format\"":    {"\"format\"", domarkx.ErrCorrupt},
		`"resources"`:     {`"resource"`, domarkx.ErrCorrupt},
		`"id": "db"`:      {`"id": ".git"`, domarkx.ErrCorrupt},
		`"t"`:             {`""`, domarkx.ErrCorrupt},
		`1.0`:             {`1.0, "b": 2`, domarkx.ErrCorrupt},
		version:           {version[1:], domarkx.ErrCorrupt},
		`"type": "t",`:    {`"type": "t", "more": 1,`, domarkx.ErrCorrupt},
		"]\n}\n":          {"]\n}", domarkx.ErrCorrupt},
		"{\n  \"format\"": {"[\n  \"format\"", domarkx.ErrCorrupt},
	} {
		if _, err := codec.DecodeManifest([]byte(strings.Replace(want, old, c.new, 1))); !errors.Is(err, c.want) {
			t.Errorf("%q for %q: %v, expected %v", c.new, old, err, c.want)
		}
	}
}

func TestCheckResources(t *testing.T) {
	untyped, configured, unversioned := resource("a"), resource("a"), resource("a")
	untyped.Type, configured.Config, unversioned.Version = "", jsonvalue.ArrayValue(), "main"
	for want, resources := range map[string][]domarkx.ResourceVersion{
		"duplicate id":                    {resource("a"), resource("b"), resource("a")},
		"it has no type":                  {untyped},
		"its config is array":             {configured},
		`version "main"`:                  {unversioned},
		`resource id ""`:                  {resource("")},
		`resource id "workspace.json"`:    {resource("workspace.json")},
		`resource id "-rf"`:               {resource("-rf")},
		`resource id ".hidden"`:           {resource(".hidden")},
		`resource id "a/b"`:               {resource("a/b")},
		`resource id "é"`:                 {resource("é")},
		"expected at most 100 of A-Z a-z": {resource(strings.Repeat("x", 101))},
		`resource id "a\x00"`:             {resource("a\x00")},
	} {
		if err := codec.CheckResources(resources); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := codec.CheckResources([]domarkx.ResourceVersion{resource("a"), resource("A"), resource("0_-."), resource(strings.Repeat("x", 100))}); err != nil {
		t.Error(err)
	}
}

func TestFileRecord(t *testing.T) {
	digest := func(c string) string { return strings.Repeat(c, 64) }
	record := codec.FileRecord{Path: "a/b cé.txt", Content: digest("c"), Replaces: []string{digest("1"), digest("2")}}
	want := "domarkx-file 1\npath a/b%20c%C3%A9.txt\ncontent " + digest("c") + "\nreplaces " + digest("1") + "\nreplaces " + digest("2") + "\n"
	data := record.Encode()
	if string(data) != want {
		t.Fatalf("the record is\n%s, expected\n%s", data, want)
	}
	if back, ok := codec.DecodeFileRecord(data); !ok || cmp.Diff(record, back) != "" {
		t.Errorf("decoded: %+v, %v", back, ok)
	}
	full := record
	full.Replaces = nil
	for i := range codec.MaxReplaced {
		full.Replaces = append(full.Replaces, digest("0")[:61]+string("0123456789abcdef"[i/16])+string("0123456789abcdef"[i%16])+"0")
	}
	if _, ok := codec.DecodeFileRecord(full.Encode()); !ok {
		t.Error("a record that replaces the maximum is none")
	}
	full.Replaces = append(full.Replaces, digest("f"))
	for name, text := range map[string]string{
		"too many replaced":     string(full.Encode()),
		"nothing":               "",
		"the head only":         codec.FileRecordHead,
		"a later format":        strings.Replace(want, "file 1", "file 2", 1),
		"no last line end":      strings.TrimSuffix(want, "\n"),
		"an empty line":         want + "\n",
		"an unknown key":        want + "later 1\n",
		"a second path":         strings.Replace(want, "content", "path x\ncontent", 1),
		"another order":         "domarkx-file 1\ncontent " + digest("c") + "\npath x\n",
		"a broken escape":       strings.Replace(want, "%20", "%2", 1),
		"a needless escape":     strings.Replace(want, "a/b", "%61/b", 1),
		"a path that leads out": strings.Replace(want, "a/b", "../b", 1),
		"an absolute path":      strings.Replace(want, "a/b", "/b", 1),
		"a digest in capitals":  strings.Replace(want, digest("c"), digest("C"), 1),
		"a short digest":        strings.Replace(want, digest("1"), digest("1")[1:], 1),
		"descending":            strings.Replace(want, digest("1"), digest("3"), 1),
		"a repetition":          strings.Replace(want, digest("1"), digest("2"), 1),
		"over the limit":        codec.FileRecordHead + "path " + strings.Repeat("x", codec.MaxFileRecord) + "\ncontent " + digest("c") + "\n",
	} {
		if f, ok := codec.DecodeFileRecord([]byte(text)); ok {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestBuckets checks that the files of tombstones together have all of them, each in its place.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfDistinct(rapid.SliceOfN(rapid.ByteRange(1, 4), 16, 16), func(b []byte) string { return string(b) }).Draw(rt, "ids")
		var dead []domarkx.Tombstone
		for _, id := range ids {
			dead = append(dead, domarkx.Tombstone{ID: domarkx.ID(id), After: domarkx.ID(id), Past: []domarkx.Rev{{}}})
		}
		codec.SortTombstones(dead)
		files, err := codec.Buckets(dead)
		if err != nil {
			rt.Fatal(err)
		}
		var back []domarkx.Tombstone
		for _, name := range slices.Sorted(maps.Keys(files)) {
			file, err := codec.DecodeTombstones(name, codec.EncodeTombstones(files[name]))
			if err != nil {
				rt.Fatalf("%s: %v", name, err)
			}
			back = append(back, file...)
		}
		codec.SortTombstones(back)
		if diff := cmp.Diff(dead, back, equal); diff != "" {
			rt.Error(diff)
		}
		if len(dead) > 1 {
			slices.Reverse(dead)
			if _, err := codec.Buckets(dead); !errors.Is(err, domarkx.ErrInvalid) {
				rt.Errorf("descending: %v", err)
			}
			if _, err := codec.Buckets([]domarkx.Tombstone{dead[0], dead[0]}); !errors.Is(err, domarkx.ErrInvalid) {
				rt.Errorf("repeated: %v", err)
			}
		}
	})
}
