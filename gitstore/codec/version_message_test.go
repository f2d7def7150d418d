package codec_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func TestVersionMessageRefused(t *testing.T) {
	v := domarkx.Version{Subject: "run: ls", Number: 3, Operation: "call", Overlap: domarkx.Overlap{Late: true, Shared: []string{"a", "b"}}, Ignored: []string{"r/.env", "r/x"}, Replacement: domarkx.Replacement{Replaces: version},
		Call: &domarkx.CallRecord{Session: "s", Message: mustID(t, id1), Index: 2, Resource: "r", Tool: "t"}, Observed: &domarkx.Observation{Head: version}}
	good := string(codec.EncodeVersionMessage(v, 2))
	back, n, err := codec.DecodeVersionMessage([]byte(good + "Domarkx-Later: x\n"))
	if diff := cmp.Diff(v, back, equal); diff != "" || n != 2 || err != nil {
		t.Errorf("%d resources, %v %s", n, err, diff)
	}
	for _, c := range []struct {
		old, new string
		want     error
	}{
		{"Domarkx-Format: 1", "Domarkx-Format: 9", domarkx.ErrUnsupported},
		{"Domarkx-Format: 1\n", "", codec.ErrNoVersion},
		{"Domarkx-Resources: 2\n", "", codec.ErrNoVersion},
		{"\n\n", "\n", codec.ErrNoVersion},
		{"Resources: 2", "Resources: +2", domarkx.ErrCorrupt},
		{"Resources: 2", "Resources: 9223372036854775808", domarkx.ErrCorrupt},
		{"Number: 3", "Number: 0", domarkx.ErrCorrupt},
		{"Number: 3", "Number: 9007199254740992", domarkx.ErrCorrupt},
		{`Operation: "call"`, "Operation: 1", domarkx.ErrCorrupt},
		{`Operation: "call"`, `Operation: "call`, domarkx.ErrCorrupt},
		{`"session":"s"`, `"session": "s"`, domarkx.ErrCorrupt},
		{`"index":2`, `"index":-2`, domarkx.ErrCorrupt},
		{`"index":2`, `"index":2.0`, domarkx.ErrCorrupt},
		{`"tool":"t"`, `"tool":"t","more":1`, domarkx.ErrCorrupt},
		{id1, id1[1:], domarkx.ErrCorrupt},
		{`Call: {`, `Call: [`, domarkx.ErrCorrupt},
		{"Late: true", "Late: false", domarkx.ErrCorrupt},
		{`["a","b"]`, `["b","a"]`, domarkx.ErrCorrupt},
		{`["a","b"]`, `[]`, domarkx.ErrCorrupt},
		{`["a","b"]`, `["a",1]`, domarkx.ErrCorrupt},
		{`["a","b"]`, `"a"`, domarkx.ErrCorrupt},
		{`["a","b"]`, `["a"` + strings.Repeat(`,"a"`, codec.MaxShared) + `]`, domarkx.ErrCorrupt},
		{`["r/.env","r/x"]`, `["r/x","r/.env"]`, domarkx.ErrCorrupt},
		{`["r/.env","r/x"]`, `[]`, domarkx.ErrCorrupt},
		{`Observed: {`, `Observed: [{`, domarkx.ErrCorrupt},
		{`"head":`, `"Head":`, domarkx.ErrCorrupt},
		{"Replaces: " + version, "Replaces: main", domarkx.ErrCorrupt},
		{"Replaces: " + version, "Replaces: " + strings.ToUpper(version), domarkx.ErrCorrupt},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Errorf("the message has no %q:\n%s", c.old, good)
		}
		if _, _, err := codec.DecodeVersionMessage([]byte(text)); !errors.Is(err, c.want) {
			t.Errorf("%q for %q: %v, expected %v", c.new, c.old, err, c.want)
		}
	}
	if _, err := codec.DecodeMessage([]byte(good)); !errors.Is(err, codec.ErrNoSnapshot) {
		t.Errorf("a version as a snapshot: %v", err)
	}
	snapshot := codec.EncodeMessage(domarkx.Info{Number: 1, Operation: "append", Replacement: domarkx.Replacement{Replaces: version}})
	if _, _, err := codec.DecodeVersionMessage(snapshot); !errors.Is(err, codec.ErrNoVersion) {
		t.Errorf("a snapshot as a version: %v", err)
	}
	if info, err := codec.DecodeMessage(snapshot); err != nil || info.Replaces != version {
		t.Errorf("a redacted snapshot: %+v, %v", info, err)
	}
}

func TestCleanSubject(t *testing.T) {
	for _, c := range [][3]string{
		{"a b", "op", "a b"}, {" a\n", "op", "a"}, {"a\r\n\tb", "op", "a   b"}, {"a\u2028b\u0085c", "op", "a b c"}, {"\xff", "op", "\ufffd"},
		{"", "op", "op"}, {" \n\x00", "op", "op"}, {"", "", "snapshot"}, {"\n", "\n", "snapshot"}, {"", "a\nb", "a b"},
	} {
		if got := codec.CleanSubject(c[0], c[1]); got != c[2] {
			t.Errorf("%q, %q: %q, expected %q", c[0], c[1], got, c[2])
		}
	}
}

// TestMessagesOfAnything checks that no text in a message forges a trailer or is lost.
func TestMessagesOfAnything(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\n\nDomarkx-Number: 7\n", "a\r\n\r\nDomarkx-Format: 2", "\u2028\u2029\u0085", "\x00\x1b[31m", "{}\"", "\xff\xfe"}))
	rapid.Check(t, func(rt *rapid.T) {
		info := domarkx.Info{Subject: text.Draw(rt, "subject"), Operation: text.Draw(rt, "operation"), Preview: text.Draw(rt, "preview"),
			Number: rapid.IntRange(1, 1<<53-1).Draw(rt, "number"), Messages: rapid.IntRange(0, 1<<40).Draw(rt, "messages"), Bytes: rapid.Int64Range(0, 1<<62).Draw(rt, "bytes")}
		data := codec.EncodeMessage(info)
		back, err := codec.DecodeMessage(data)
		want := info
		want.Subject = codec.CleanSubject(info.Subject, info.Operation)
		valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
		back.Preview, back.Operation, want.Preview, want.Operation = valid(back.Preview), valid(back.Operation), valid(want.Preview), valid(want.Operation)
		if strings.ContainsAny(info.Preview+info.Operation, "\xff\xfe") { //nolint:staticcheck // JSON has no such bytes
			back.Preview, back.Operation, want.Preview, want.Operation = "", "", "", ""
		}
		if diff := cmp.Diff(want, back); diff != "" || err != nil {
			rt.Errorf("%q: %v %s", data, err, diff)
		}
		call := &domarkx.CallRecord{Session: rapid.String().Draw(rt, "session"), Message: domarkx.ID{1}, Index: rapid.IntRange(0, 1<<40).Draw(rt, "index"),
			Resource: rapid.String().Draw(rt, "resource"), Tool: rapid.String().Draw(rt, "tool")}
		v, n, err := codec.DecodeVersionMessage(codec.EncodeVersionMessage(domarkx.Version{Subject: info.Subject, Number: info.Number, Call: call}, 7))
		if err != nil || n != 7 || v.Number != info.Number || v.Call == nil || *v.Call != *call {
			rt.Errorf("%+v with %d resources, %v", v, n, err)
		}
	})
}

// TestSignatures checks that git fsck accepts commits of authors with hostile names, and that they are read back.
func TestSignatures(t *testing.T) {
	dir := gittest.Init(t)
	tree := gittest.Run(t, dir, "write-tree")
	id, err := odb.ParseID(tree)
	if err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1700000000, 0)
	for _, c := range []struct{ name, email, wantName, wantEmail string }{
		{"Ada", "ada@example.com", "Ada", "ada@example.com"},
		{"", "", "unknown", ""},
		{"<>", "<a>@<b>", "unknown", "a@b"},
		{"A\nparent " + tree, "a\x00b", "Aparent " + tree, "ab"},
		{" .,Ada;\"", "'a@b'", "Ada", "a@b"},
		{"\xff", "\xff", "\ufffd", "\ufffd"},
		{"A <a@b> 1 +0000", "x> 1 +0000\ncommitter X <", "A a@b 1 +0000", "x 1 +0000committer X"},
	} {
		for _, zone := range []int{0, 3600, -5400, 14 * 3600, 30 * 3600, -30 * 3600} {
			s := domarkx.Signature{Name: c.name, Email: c.email, When: when.In(time.FixedZone("", zone))}
			commit := codec.Commit{Tree: id, Author: s, Committer: s, Message: []byte("m\n")}
			data, err := commit.Encode()
			if err != nil {
				t.Errorf("%q: %v", c.name, err)
				continue
			}
			hash(t, dir, data)
			back, err := codec.DecodeCommit(oid.SHA1, data)
			if err != nil || back.Author.Name != c.wantName || back.Author.Email != c.wantEmail || !back.Author.When.Equal(when) || len(back.Parents) > 0 {
				t.Errorf("%q, %q, zone %d: %+v, %v", c.name, c.email, zone, back, err)
			}
		}
	}
}

// hash stores a commit with git, which checks it.
func hash(t *testing.T, dir string, commit []byte) {
	t.Helper()
	cmd := exec.Command("git", "-c", "fsck.missingEmail=error", "hash-object", "-t", "commit", "-w", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, gittest.Env(), strings.NewReader(string(commit)), os.Stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%q: %v", commit, err)
	}
}
