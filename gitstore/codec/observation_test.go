package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
)

func TestObservedVersion(t *testing.T) {
	v := domarkx.Version{Number: 7, Subject: "s", Operation: "batch", Overlap: domarkx.Overlap{Late: true, Shared: []string{"a/b", "c"}},
		Observed: &domarkx.Observation{Head: strings.Repeat("a1", 20), Branch: "main", Calls: []string{"toolu_1", "\""},
			LeftOut: []domarkx.LeftOut{{Path: "big", Reason: "large"}}, More: 3}}
	const want = "s\n\nDomarkx-Format: 1\nDomarkx-Number: 7\nDomarkx-Resources: 1\nDomarkx-Operation: \"batch\"\n" +
		`Domarkx-Observed: {"head":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","branch":"main","calls":["toolu_1","\""],"left_out":[{"path":"big","reason":"large"}],"more":3}` +
		"\nDomarkx-Late: true\nDomarkx-Shared: [\"a/b\",\"c\"]\n"
	got := codec.EncodeVersionMessage(v, 1)
	if string(got) != want {
		t.Fatalf("the message is\n%s\nwant\n%s", got, want)
	}
	back, _, err := codec.DecodeVersionMessage(got)
	if diff := cmp.Diff(v, back, equal); diff != "" || err != nil {
		t.Errorf("decoded: %v %s", err, diff)
	}
	for old, bad := range map[string]string{
		"Late: true":        "Late: yes",
		`["a/b","c"]`:       `["c","a/b"]`,
		`Shared: ["a/b",`:   `Shared: [1,`,
		`{"head"`:           `{ "head"`,
		`"more":3`:          `"more":0`,
		`"branch":"main",`:  `"branch":"",`,
		`"reason":"large"`:  `"reason":"large","x":1`,
		`"calls":["toolu_1`: `"calls":[["toolu_1"],"`,
	} {
		damaged := strings.Replace(want, old, bad, 1)
		if _, _, err := codec.DecodeVersionMessage([]byte(damaged)); damaged == want || !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestObservationOfAnything stores whatever a work tree and an agent can contain.
func TestObservationOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })
		o := codec.CleanObservation(domarkx.Observation{Branch: text.Draw(t, "branch"), Calls: rapid.SliceOfN(text, 0, 3).Draw(t, "calls"), More: rapid.IntRange(0, 3).Draw(t, "more"),
			LeftOut: rapid.SliceOfN(rapid.Map(text, func(p string) domarkx.LeftOut { return domarkx.LeftOut{Path: p, Reason: "large"} }), 0, 150).Draw(t, "left out")})
		v := domarkx.Version{Number: 1, Subject: "s", Operation: "turn", Observed: o}
		back, _, err := codec.DecodeVersionMessage(codec.EncodeVersionMessage(v, 1))
		if diff := cmp.Diff(v, back, equal); diff != "" || err != nil {
			t.Fatalf("%v %s", err, diff)
		}
	})
}
