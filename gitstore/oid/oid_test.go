package oid_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// emptyBlob is the id of a blob without content.
var emptyBlob = map[oid.Hash]string{
	oid.SHA1:   "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
	oid.SHA256: "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}

func TestHashes(t *testing.T) {
	for by, digits := range emptyBlob {
		t.Run(by.String(), func(t *testing.T) {
			if named, err := oid.ParseHash(by.String()); named != by || err != nil {
				t.Errorf("its name stands for %s, %v", named, err)
			}
			sum := by.New()
			sum.Write([]byte("blob 0\x00"))
			id := oid.FromBytes(sum.Sum(nil))
			if id.String() != digits || !id.IsOf(by) || id.IsZero() || !oid.IsHex(digits) {
				t.Errorf("%s, expected %s", id, digits)
			}
			if len(digits) != by.HexSize() || len(id.Bytes()) != by.Size() || id.First() != id.Bytes()[0] || id.Last() != id.Bytes()[by.Size()-1] {
				t.Errorf("%d digits, %d bytes", by.HexSize(), by.Size())
			}
			for _, parse := range []func(string) (oid.ID, error){oid.Parse, by.Parse} {
				if back, err := parse(digits); back != id || err != nil {
					t.Errorf("%s, %v", back, err)
				}
				if zero, err := parse(strings.Repeat("0", by.HexSize())); !zero.IsZero() || zero != (oid.ID{}) || err != nil {
					t.Errorf("zeros are %s, %v", zero, err)
				}
			}
			other := oid.SHA1 + oid.SHA256 - by
			if _, err := other.Parse(digits); !errors.Is(err, domarkx.ErrInvalid) || id.IsOf(other) {
				t.Errorf("%s takes an id of %s: %v", other, by, err)
			}
		})
	}
	if _, err := oid.ParseHash("sha512"); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Error(err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "e69de29", emptyBlob[oid.SHA1] + "0", emptyBlob[oid.SHA1][1:] + "g", strings.Repeat("0", 63), strings.Repeat("z", 64), strings.Repeat("0", 128)} {
		if id, err := oid.Parse(text); !errors.Is(err, domarkx.ErrInvalid) || oid.IsHex(text) {
			t.Errorf("%q: %s, %v", text, id, err)
		}
	}
	if oid.IsHex(strings.ToUpper(emptyBlob[oid.SHA1])) {
		t.Error("Git prints no upper-case digits")
	}
	for _, n := range []int{0, 19, 21, 31, 33, 64} {
		if id := oid.FromBytes(make([]byte, n)); !id.IsZero() {
			t.Errorf("%d bytes: %s", n, id)
		}
	}
}

func TestCompare(t *testing.T) {
	low, high := oid.FromBytes([]byte{1, 19: 0}), oid.FromBytes([]byte{1, 19: 1})
	if low.Compare(high) >= 0 || high.Compare(low) <= 0 || low.Compare(low) != 0 {
		t.Error("ids are not in the order of their bytes")
	}
	if long := oid.FromBytes([]byte{1, 31: 0}); long == low || long.Compare(low) == 0 {
		t.Error("an id of SHA-256 equals one of SHA-1 that it begins with")
	}
}

func TestFindHex(t *testing.T) {
	short, long := emptyBlob[oid.SHA1], emptyBlob[oid.SHA256]
	text := short + " refs/x\n(" + long + ") x" + short + " " + short + "_ " + short[1:] + "\t" + strings.ToUpper(short)
	if found := oid.FindHex(text); !slices.Equal(found, []string{short, long}) {
		t.Errorf("%q", found)
	}
}
