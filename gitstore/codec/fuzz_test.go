package codec_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// Each decoder accepts only canonical encodings: encoding the result returns the input, and other inputs
// are reported as corrupt.

func FuzzDecodeEntries(f *testing.F) {
	f.Add([]byte(id1 + " " + sum + " 12 1700000000\n" + id2 + " - 0 -5 past=0000000000000000 tail=open fence=``` tight\n"))
	f.Add([]byte(id1 + " - 0 0 after=" + id2 + " includes=a%20b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		leaf, err := codec.DecodeEntries(data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		for i := range leaf {
			leaf[i].Role = domarkx.Assistant
		}
		if again, err := codec.EncodeEntries(leaf); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%q became %q, %v", data, again, err)
		}
	})
}

func FuzzDecodeHeaderFile(f *testing.F) {
	f.Add([]byte("- 0 rev=0700000000000000\n"), false)
	f.Add([]byte(sum+" 3 past=0000000000000000 tail=blank\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, named bool) {
		h, err := codec.DecodeHeaderFile(data, named)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if again, err := codec.EncodeHeaderFile(h, named); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%q became %q, %v", data, again, err)
		}
	})
}

func FuzzDecodeTombstones(f *testing.F) {
	f.Add([]byte(id1 + " " + zeros + " 0000000000000000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dead, err := codec.DecodeTombstones("08", data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if again := codec.EncodeTombstones(dead); !bytes.Equal(again, data) {
			t.Errorf("%q became %q", data, again)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add(codec.EncodeMessage(domarkx.Info{Number: 3, Messages: 2, Bytes: 120, Subject: "append: hello", Preview: "a\n\"", Operation: "append"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := codec.DecodeMessage(data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
				t.Error(err)
			}
			return
		}
		again, err := codec.DecodeMessage(codec.EncodeMessage(info))
		info.Subject = again.Subject // encoding cleans it
		if err != nil || again != info {
			t.Errorf("%q became %+v, %v", data, again, err)
		}
	})
}

func FuzzIncludePath(f *testing.F) {
	f.Add("a%2Fb%20c%2F%C3%BC.md")
	f.Fuzz(func(t *testing.T, name string) {
		path, err := codec.IncludePath(name)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if again, err := codec.IncludeName(path); err != nil || again != name {
			t.Errorf("%q became %q, %v", name, again, err)
		}
	})
}

func FuzzDecodeCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"author A <a@b> 1700000000 -0130\ncommitter A <a@b> 1700000000 +0000\ngpgsig -----BEGIN\n -----END\n\nmessage\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := codec.DecodeCommit(oid.SHA1, data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		encoded, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := codec.DecodeCommit(oid.SHA1, encoded)
		if err != nil {
			t.Fatalf("%q became %q, %v", data, encoded, err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, encoded) {
			t.Errorf("%q became %q, then %q, %v", data, encoded, twice, err)
		}
	})
}

// FuzzManifest checks that accepted manifests are canonical.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("{\n  \"format\": 1,\n  \"resources\": []\n}\n"))
	f.Add(codec.EncodeManifest([]domarkx.ResourceVersion{{ResourceSpec: domarkx.ResourceSpec{ID: "a", Type: "t", Config: jsonvalue.ObjectValue()}, Version: strings.Repeat("1", 40)}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		resources, err := codec.DecodeManifest(data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(codec.EncodeManifest(resources), data) {
			t.Fatalf("%q is written otherwise", data)
		}
		for _, r := range resources {
			if r.ID == "" || strings.ContainsAny(r.ID, "/\\:\x00") || r.ID[0] == '.' {
				t.Fatalf("id %q", r.ID)
			}
		}
	})
}

// FuzzVersionMessage checks that encoding a decoded message preserves its meaning.
func FuzzVersionMessage(f *testing.F) {
	f.Add(codec.EncodeVersionMessage(domarkx.Version{Subject: "s", Operation: "call", Number: 2, Call: &domarkx.CallRecord{Session: "a"}}, 3))
	f.Add([]byte("s\n\nDomarkx-Format: 1\nDomarkx-Number: 1\nDomarkx-Resources: 1\nDomarkx-Operation: \"x\"\nDomarkx-Call: {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, resources, err := codec.DecodeVersionMessage(data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		again, n, err := codec.DecodeVersionMessage(codec.EncodeVersionMessage(v, resources))
		if err != nil || n != resources || again.Number != v.Number || again.Operation != v.Operation || (again.Call == nil) != (v.Call == nil) || v.Call != nil && *again.Call != *v.Call {
			t.Fatalf("%+v became %+v, %v", v, again, err)
		}
	})
}
