package codec_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/codec/codectest"
)

const (
	id1   = "00000000fffffffe0102030405060708"
	id2   = "0000000100000000a1a2a3a4a5a6a7a8"
	zeros = "00000000000000000000000000000000"
	sum   = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU" // SHA-256 of an empty text
)

var equal = cmp.Options{cmpopts.EquateEmpty()}

func TestEntriesEncoding(t *testing.T) {
	digest := [32]byte{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
		0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55}
	a, b := mustID(t, id1), mustID(t, id2)
	rev := domarkx.Rev{1, 2, 3, 4, 5, 6, 7, 8}
	leaf := []domarkx.Entry{
		{ID: a, Role: "user", Date: 1700000000, Layout: domarkx.Layout{Digest: digest, Size: 12}},
		{ID: b, After: a, Role: "assistant", Date: -5, Link: strings.Repeat("ab", 20), Past: []domarkx.Rev{{}, rev},
			Layout: domarkx.Layout{Tail: domarkx.TailOpen, Fence: "```", Tight: true, Span: 2, Includes: "a b%"}},
		{ID: b, After: a, Rev: rev, Role: "user", Layout: domarkx.Layout{Within: 1, Tail: domarkx.TailCRLF}},
		{ID: mustID(t, "00000001000000000000000000000001"), Role: "user"},
	}
	want := id1 + " " + sum + " 12 1700000000\n" +
		id2 + " - 0 -5 past=0000000000000000,0102030405060708 link=" + strings.Repeat("ab", 20) + " tail=open fence=``` tight span=2 includes=a%20b%25\n" +
		id2 + " - 0 0 rev=0102030405060708 tail=crlf within=1\n" +
		"00000001000000000000000000000001 - 0 0 after=" + zeros + "\n"
	got, err := codec.EncodeEntries(leaf)
	if err != nil || string(got) != want {
		t.Fatalf("entries are\n%s%v, want\n%s", got, err, want)
	}
	back, err := codec.DecodeEntries(got)
	for i := range leaf {
		leaf[i].Role = ""
	}
	if diff := cmp.Diff(leaf, back, equal); diff != "" || err != nil {
		t.Errorf("decoded: %v %s", err, diff)
	}
}

func TestEntriesRefused(t *testing.T) {
	good := id1 + " " + sum + " 12 1700000000"
	if _, err := codec.DecodeEntries([]byte(good + "\n")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"no line end":         good,
		"empty line":          good + "\n\n",
		"CRLF":                good + "\r\n",
		"upper case id":       strings.ToUpper(id1) + " " + sum + " 12 0\n",
		"short id":            id1[1:] + " " + sum + " 12 0\n",
		"zero id":             zeros + " " + sum + " 12 0\n",
		"padded digest":       id1 + " " + sum + "= 12 0\n",
		"short digest":        id1 + " " + sum[1:] + " 12 0\n",
		"loose digest bits":   id1 + " " + sum[:42] + "V 12 0\n",
		"leading zero":        id1 + " " + sum + " 012 0\n",
		"plus":                id1 + " " + sum + " +12 0\n",
		"negative size":       id1 + " " + sum + " -1 0\n",
		"huge size":           id1 + " " + sum + " 99999999999999999999 0\n",
		"no date":             id1 + " " + sum + " 12\n",
		"two blanks":          id1 + "  " + sum + " 12 0\n",
		"trailing blank":      good + " \n",
		"unknown flag":        good + " new=1\n",
		"default flag":        good + " after=" + zeros + "\n",
		"default after":       good + "\n" + id2 + " " + sum + " 1 0 after=" + id1 + "\n",
		"wrong order":         good + " tight tail=open\n",
		"twice":               good + " tight tight\n",
		"tight with a value":  good + " tight=\n",
		"unknown tail":        good + " tail=lf\n",
		"empty tail":          good + " tail=\n",
		"unsorted past":       good + " past=0000000000000002,0000000000000001\n",
		"repeated past":       good + " past=0000000000000002,0000000000000002\n",
		"empty past":          good + " past=\n",
		"short link":          good + " link=abcd\n",
		"needless escape":     good + " fence=%60``\n",
		"broken escape":       good + " fence=%6\n",
		"negative span":       good + " span=-1\n",
		"more than a leaf":    strings.Repeat(good+"\n", 17),
		"NUL":                 good + "\x00\n",
		"invalid UTF-8 fence": good + " fence=\xff\n",
	} {
		if _, err := codec.DecodeEntries([]byte(text)); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v, want corrupt", name, err)
		}
	}
}

func TestEntriesNotWritten(t *testing.T) {
	for name, e := range map[string]domarkx.Entry{
		"zero id":       {Role: "user"},
		"role":          {ID: domarkx.ID{1}, Role: "system"},
		"link":          {ID: domarkx.ID{1}, Role: "user", Link: "main"},
		"negative size": {ID: domarkx.ID{1}, Role: "user", Layout: domarkx.Layout{Size: -1}},
		"tail":          {ID: domarkx.ID{1}, Role: "user", Layout: domarkx.Layout{Tail: 9}},
	} {
		if _, err := codec.EncodeEntries([]domarkx.Entry{e}); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
}

func TestEntriesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaf := codectest.DrawThread(t, 16).Live
		leaf = leaf[:min(16, len(leaf))]
		data, err := codec.EncodeEntries(leaf)
		if err != nil {
			t.Fatal(err)
		}
		back, err := codec.DecodeEntries(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range back { // these values are in the names of files
			back[i].Role, back[i].JSON, back[i].Source = leaf[i].Role, leaf[i].JSON, leaf[i].Source
			back[i].Layout.Verbatim = leaf[i].Layout.Verbatim
		}
		if diff := cmp.Diff(leaf, back, equal); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestHeaderFile(t *testing.T) {
	rev := domarkx.Rev{7}
	for _, tt := range []struct {
		header domarkx.HeaderEntry
		named  bool
		want   string
	}{
		{domarkx.HeaderEntry{}, false, ""},
		{domarkx.HeaderEntry{Rev: rev}, true, ""},
		{domarkx.HeaderEntry{Rev: rev}, false, "- 0 rev=0700000000000000\n"},
		{domarkx.HeaderEntry{Rev: rev, Past: []domarkx.Rev{{}}, Layout: domarkx.Layout{Size: 3, Tail: domarkx.TailBlank}}, false,
			"- 3 rev=0700000000000000 past=0000000000000000 tail=blank\n"},
	} {
		data, err := codec.EncodeHeaderFile(tt.header, tt.named)
		if err != nil || string(data) != tt.want {
			t.Errorf("%+v: %q, %v, want %q", tt.header, data, err, tt.want)
		}
		back, err := codec.DecodeHeaderFile(data, tt.named)
		if tt.named {
			back.Rev = tt.header.Rev
		}
		if diff := cmp.Diff(tt.header, back, equal); diff != "" || err != nil {
			t.Errorf("%q: %v %s", data, err, diff)
		}
	}
	for _, text := range []string{"", "- 0\n", "- 0 tight", "- 0 tight\n\n", "-\n", "- 0 after=" + zeros + "\n", "- 0 link=" + strings.Repeat("a", 40) + "\n"} {
		if _, err := codec.DecodeHeaderFile([]byte(text), false); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%q: %v, want corrupt", text, err)
		}
	}
	if _, err := codec.DecodeHeaderFile([]byte("- 0 rev=0700000000000000\n"), true); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("rev= in headers/<rev>: %v, want corrupt", err)
	}
}

func TestTombstones(t *testing.T) {
	dead := []domarkx.Tombstone{
		{ID: mustID(t, id1), Past: []domarkx.Rev{{}}},
		{ID: mustID(t, "0000000200000000a1a2a3a4a5a6a708"), After: mustID(t, id1)},
	}
	want := id1 + " " + zeros + " 0000000000000000\n" + "0000000200000000a1a2a3a4a5a6a708 " + id1 + " -\n"
	data := codec.EncodeTombstones(dead)
	if string(data) != want {
		t.Errorf("tombstones are\n%s, want\n%s", data, want)
	}
	back, err := codec.DecodeTombstones("08", data)
	if diff := cmp.Diff(dead, back, equal); diff != "" || err != nil {
		t.Errorf("decoded: %v %s", err, diff)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for name, text := range map[string]string{
		"empty":     "",
		"unsorted":  string(lines[1]) + string(lines[0]),
		"repeated":  string(lines[0]) + string(lines[0]),
		"no end":    strings.TrimSuffix(want, "\n"),
		"one field": id1 + "\n",
		"bucket":    id2 + " " + zeros + " -\n",
		"past":      id1 + " " + zeros + " \n",
	} {
		if _, err := codec.DecodeTombstones("08", []byte(text)); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v, want corrupt", name, err)
		}
	}
}

func TestMessageEncoding(t *testing.T) {
	info := domarkx.Info{Number: 3, Messages: 2, Bytes: 120, Subject: "append: hello\nDomarkx-Number: 9\x00",
		Preview: "a\nDomarkx-Number: 7\n\"\u2028\xed\xa0\x80", Operation: "append"}
	want := "append: hello Domarkx-Number: 9\n\nDomarkx-Format: 1\nDomarkx-Number: 3\nDomarkx-Messages: 2\nDomarkx-Bytes: 120\n" +
		`Domarkx-Preview: "a\nDomarkx-Number: 7\n\"` + "\u2028" + `\ud800"` + "\n" + `Domarkx-Operation: "append"` + "\n"
	data := codec.EncodeMessage(info)
	if string(data) != want {
		t.Errorf("message is\n%s, want\n%s", data, want)
	}
	info.Subject = "append: hello Domarkx-Number: 9"
	back, err := codec.DecodeMessage(append(data, "Domarkx-Later: 1\n"...))
	if diff := cmp.Diff(info, back); diff != "" || err != nil {
		t.Errorf("decoded: %v %s", err, diff)
	}
	for _, tt := range []struct {
		old, new string
		want     error
	}{
		{"Domarkx-Format: 1", "Domarkx-Format: 2", domarkx.ErrUnsupported},
		{"Domarkx-Format: 1\n", "", domarkx.ErrCorrupt},
		{"Number: 3", "Number: 03", domarkx.ErrCorrupt},
		{"Number: 3", "Number: -3", domarkx.ErrCorrupt},
		{"Domarkx-Number: 3\n", "", domarkx.ErrCorrupt},
		{"Domarkx-Number: 3\n", "Domarkx-Number: 3\nDomarkx-Number: 3\n", domarkx.ErrCorrupt},
		{`"append"`, "append", domarkx.ErrCorrupt},
		{"\n\n", "\n", domarkx.ErrCorrupt},
		{"Domarkx-Bytes: ", "Domarkx-Bytes ", domarkx.ErrCorrupt},
	} {
		if _, err := codec.DecodeMessage([]byte(strings.Replace(want, tt.old, tt.new, 1))); !errors.Is(err, tt.want) {
			t.Errorf("%q for %q: %v, want %v", tt.new, tt.old, err, tt.want)
		}
	}
}

func TestIncludeNames(t *testing.T) {
	for path, want := range map[string]string{
		"notes.txt":       "notes.txt",
		"a/b c/ü.md":      "a%2Fb%20c%2F%C3%BC.md",
		".git/config":     "%2Egit%2Fconfig",
		"x/.gitmodules":   "x%2F.gitmodules",
		"..x":             "%2E.x",
		"big.chunks":      "big%2Echunks",
		"big.chunks.txt":  "big.chunks.txt",
		"GIT~1":           "GIT%7E1",
		"100%":            "100%25",
		"a\nb\\c\xff":     "a%0Ab%5Cc%FF",
		".chunks":         "%2Echunks",
		"-rf":             "-rf",
		"\u200c.git/hook": "%E2%80%8C.git%2Fhook",
	} {
		got, err := codec.IncludeName(path)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", path, got, err, want)
		}
		if back, err := codec.IncludePath(got); back != path || err != nil {
			t.Errorf("%q: back %q, %v", path, back, err)
		}
	}
	for _, path := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../b", "a//b", "a/", "a\x00", strings.Repeat("x", 1025)} {
		if _, err := codec.IncludeName(path); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v, want invalid", path, err)
		}
	}
	for _, name := range []string{"", "a/b", "%2e", "%41", ".git", "x.chunks", "%", "%2", "ü", "%2E%2E", "a b"} {
		if _, err := codec.IncludePath(name); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("name %q: %v, want corrupt", name, err)
		}
	}
}

func mustID(t interface{ Fatal(...any) }, s string) domarkx.ID {
	id, err := domarkx.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
