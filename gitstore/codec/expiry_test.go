package codec_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
)

func TestExpiredVersion(t *testing.T) {
	on := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	old := strings.Repeat("ab", 20)
	for _, e := range []domarkx.Expiry{{On: on, Before: on.AddDate(0, -3, 0)}, {On: on, Newest: 50}} {
		message := codec.EncodeVersionMessage(domarkx.Version{Number: 3, Operation: "call", Replacement: domarkx.Replacement{Replaces: old, SameTexts: true}, Expired: &e}, 0)
		v, resources, err := codec.DecodeVersionMessage(message)
		if err != nil || resources != 0 || v.Expired == nil || *v.Expired != e || !v.SameTexts || v.Replaces != old {
			t.Fatalf("%s: %+v, %v", message, v, err)
		}
		if again := codec.EncodeVersionMessage(v, 0); string(again) != string(message) {
			t.Errorf("%s becomes %s", message, again)
		}
		for _, change := range [][2]string{{`"on":"2026`, `"on": "2026`}, {`"on":"2026-11-28T10:00:00Z"`, `"on":"yesterday"`}, {`"on"`, `"at"`}, {`newest":50`, `newest":-1`},
			{`newest":50`, `newest":050`}, {`before":"2026-08-28T10:00:00Z`, `before":"2026-08-28`}, {"Resources: 0", "Resources: 1"}, {"Domarkx-Replaces: " + old + "\n", ""},
			{"Redacted: false", "Redacted: true"}} {
			bad := strings.Replace(string(message), change[0], change[1], 1)
			if _, _, err := codec.DecodeVersionMessage([]byte(bad)); bad != string(message) && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("%q: %v, want it to be corrupt", bad, err)
			}
		}
	}
}

func TestSameTexts(t *testing.T) {
	old := strings.Repeat("ab", 20)
	message := codec.EncodeMessage(domarkx.Info{Number: 1, Operation: "append", Replacement: domarkx.Replacement{Replaces: old, SameTexts: true}})
	if info, err := codec.DecodeMessage(message); err != nil || info.Replaces != old || !info.SameTexts {
		t.Errorf("%s: %+v, %v", message, info, err)
	}
	if info, err := codec.DecodeMessage([]byte(strings.Replace(string(message), "Domarkx-Redacted: false\n", "", 1))); err != nil || info.SameTexts {
		t.Errorf("without the trailer: %+v, %v", info, err)
	}
}
