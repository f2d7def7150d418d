package remote_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/remote"
)

func TestParsePush(t *testing.T) {
	const ref = "refs/domarkx/sessions/x"
	tests := []struct {
		name, out string
		want      remote.Result
		said      bool
	}{
		{"nothing", "", remote.Result{Status: remote.Unknown}, false},
		{"only the address", "To host:x\nDone\n", remote.Result{Status: remote.Unknown}, false},
		{"fast forward", "To x\n \tabc:" + ref + "\tabc..def\nDone\n", remote.Result{Status: remote.Updated}, true},
		{"forced", "+\tabc:" + ref + "\tabc...def (forced update)\n", remote.Result{Status: remote.Updated}, true},
		{"new", "*\tabc:" + ref + "\t[new reference]\n", remote.Result{Status: remote.Created}, true},
		{"removed", "-\t:" + ref + "\t[deleted]\n", remote.Result{Status: remote.Deleted}, true},
		{"there", "=\tabc:" + ref + "\t[up to date]\n", remote.Result{Status: remote.UpToDate}, true},
		{"stale", "!\tabc:" + ref + "\t[rejected] (stale info)\n", remote.Result{Status: remote.Stale, Reason: "stale info"}, true},
		{"held", "!\tabc:" + ref + "\t[rejected] (atomic push failed)\n", remote.Result{Status: remote.NotTried, Reason: "atomic push failed"}, true},
		{"lost", "!\tabc:" + ref + "\t[remote rejected] (atomic transaction failed)\n", remote.Result{Status: remote.Lost, Reason: "atomic transaction failed"}, true},
		{"refused", "!\tabc:" + ref + "\t[remote rejected] (no (really) \x1b[31m)\n", remote.Result{Status: remote.Refused, Reason: "no (really) [31m"}, true},
		{"failed", "!\tabc:" + ref + "\t[remote failure] (remote failed to report status)\n", remote.Result{Status: remote.Refused, Reason: "remote failed to report status"}, true},
		{"another", "*\tabc:refs/heads/x\t[new branch]\n", remote.Result{Status: remote.Unknown}, false},
		{"two addresses", "To a\n*\tabc:" + ref + "\t[new]\nTo b\n!\tabc:" + ref + "\t[remote rejected] (no)\nTo c\n*\tabc:" + ref + "\t[new]\n", remote.Result{Status: remote.Refused, Reason: "no"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.want.Ref = ref
			got, said := remote.ParsePush([]byte(test.out), []refdb.Change{{Ref: ref}})
			if len(got) != 1 || got[0] != test.want || said != test.said {
				t.Errorf("parsePush = %+v, %v, want %+v, %v", got, said, test.want, test.said)
			}
		})
	}
}

func FuzzParsePush(f *testing.F) {
	f.Add([]byte("To host:x\n*\tabc:refs/x\t[new reference]\n!\tabc:refs/y\t[remote rejected] (no)\nDone\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		changes := []refdb.Change{{Ref: "refs/x"}, {Ref: "refs/y"}}
		results, _ := remote.ParsePush(out, changes)
		if len(results) != len(changes) {
			t.Fatalf("%d results", len(results))
		}
		for i, result := range results {
			if result.Ref != changes[i].Ref || result.Status == "" || strings.ContainsFunc(result.Reason, unicode.IsControl) {
				t.Errorf("%+v", result)
			}
		}
	})
}
