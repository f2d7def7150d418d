package codec_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// TestCommitEncoding compares with bytes that must never change: ids depend on them.
func TestCommitEncoding(t *testing.T) {
	at := func(seconds int64, offset int) time.Time {
		return time.Unix(seconds, 0).In(time.FixedZone("", offset))
	}
	for _, test := range []struct {
		name string
		who  domarkx.Signature
		want string
	}{
		{"plain", domarkx.Signature{Name: "Ada", Email: "a@b", When: at(1700000000, 0)}, "Ada <a@b> 1700000000 +0000"},
		{"west", domarkx.Signature{Name: "Ada", Email: "a@b", When: at(1700000000, -5400)}, "Ada <a@b> 1700000000 -0130"},
		{"seconds in the offset", domarkx.Signature{Name: "Ada", Email: "a@b", When: at(1700000000, 3600+59)}, "Ada <a@b> 1700000000 +0100"},
		{"offset over a day", domarkx.Signature{Name: "Ada", Email: "a@b", When: at(1700000000, 25*3600+60)}, "Ada <a@b> 1700000000 +0101"},
		{"before 1970", domarkx.Signature{Name: "Ada", Email: "a@b", When: at(-5, 0)}, "Ada <a@b> 0 +0000"},
		{"nothing", domarkx.Signature{When: at(0, 0)}, "unknown <> 0 +0000"},
		{"characters that Git refuses", domarkx.Signature{Name: " .A\n<\xff>;", Email: "<x>\x00@", When: at(1, 0)}, "A\ufffd <x@> 1 +0000"},
	} {
		for _, parents := range [][]odb.ID{nil, {oid.FromBytes([]byte{1, 19: 0}), oid.FromBytes([]byte{2, 19: 0})}} {
			want := "tree 0000000000000000000000000000000000000000\n"
			for _, p := range parents {
				want += "parent " + p.String() + "\n"
			}
			want += "author " + test.want + "\ncommitter " + test.want + "\n\nsubject\n\nbody\n"
			got, err := encodeCommit(odb.ID{}, parents, test.who, test.who, "subject\n\nbody\n")
			if err != nil || string(got) != want {
				t.Errorf("%s: %q, %v, expected %q", test.name, got, err, want)
			}
		}
	}
}

// TestDecodeCommit decodes what other programs write, and what nobody should.
func TestDecodeCommit(t *testing.T) {
	const (
		tree  = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
		who   = "author A <a@b> 1700000000 +0100\ncommitter A <a@b> 1700000000 +0000\n"
		lines = 2000
	)
	parent := "parent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
	for _, test := range []struct {
		name, data string
		parents    int
		message    string // "!" for domarkx.ErrCorrupt
	}{
		{"plain", tree + who + "\nm\n", 0, "m\n"},
		{"no message", tree + who, 0, ""},
		{"empty lines in the message", tree + parent + who + "\n\n\nm", 1, "\n\nm"},
		{"signed", tree + who + "gpgsig -----BEGIN\n -----END\nencoding latin1\nmergetag object 1\n  type x\nother\n\nm\n", 0, "m\n"},
		{"many parents", tree + strings.Repeat(parent, lines) + who + "\nm\n", lines, "m\n"},
		{"many lines in a header", tree + who + "gpgsig x\n" + strings.Repeat(" \n", 8<<20) + "\nm\n", 0, "!"},
		{"no tree", who + "\nm\n", 0, "!"},
		{"invalid parent", tree + "parent x\n" + who + "\nm\n", 0, "!"},
		{"no author", tree + "committer A <a@b> 1 +0000\n\nm\n", 0, "!"},
		{"author without a date", tree + "author A <a@b>\ncommitter A <a@b> 1 +0000\n\nm\n", 0, "!"},
		{"empty", "", 0, "!"},
	} {
		c, err := codec.DecodeCommit(oid.SHA1, []byte(test.data))
		switch {
		case test.message == "!":
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("%s: %v", test.name, err)
			}
		case err != nil || string(c.Message) != test.message || len(c.Parents) != test.parents:
			t.Errorf("%s: %+v, %v", test.name, c, err)
		}
	}
}

func BenchmarkDecodeCommit(b *testing.B) {
	data := []byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"author A <a@b> 1700000000 -0130\ncommitter A <a@b> 1700000000 +0000\n\nsubject\n\nDomarkx-Format: 1\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.DecodeCommit(oid.SHA1, data); err != nil {
			b.Fatal(err)
		}
	}
}

func encodeCommit(tree odb.ID, parents []odb.ID, author, committer domarkx.Signature, message string) ([]byte, error) {
	return (&codec.Commit{Tree: tree, Parents: parents, Author: author, Committer: committer, Message: []byte(message)}).Encode()
}
