package main

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

func TestFindings(t *testing.T) {
	found := []engine.Finding{
		{Severity: "info", What: "removed", Where: "refs/x", Fix: ""},
		{Severity: "error", What: "damaged\tbytes", Where: "talk@1", Fix: "git domarkx pull"},
		{Severity: "warning", What: "odd", Where: "talk", Fix: "rename it"},
	}
	lines := "error\tdamaged\\tbytes\ttalk@1\tgit domarkx pull\nwarning\todd\ttalk\trename it\ninfo\tremoved\trefs/x\t\n"
	object := `[
  {
    "severity": "info",
    "what": "removed",
    "where": "refs/x",
    "fix": ""
  }
]
`
	for name, test := range map[string]struct {
		found  []engine.Finding
		asJSON bool
		want   string
		err    error
	}{
		"an error is a no": {found, false, lines, errNo},
		"warnings are not": {found[2:], false, "warning\todd\ttalk\trename it\n", nil},
		"nothing":          {nil, false, "", nil},
		"nothing, as JSON": {nil, true, "[]\n", nil},
		"one, as JSON":     {found[:1], true, object, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			inv := in(t, nil)
			inv.out = newOutput(&b)
			var o findingOption
			o.JSON = test.asJSON
			if err := o.printFindings(inv, slices.Clone(test.found)); !errors.Is(err, test.err) {
				t.Errorf("got %v, expected %v", err, test.err)
			}
			if err := inv.close(); err != nil {
				t.Fatal(err)
			}
			if b.String() != test.want {
				t.Errorf("got %q, expected %q", b.String(), test.want)
			}
		})
	}
}

func TestDoctorOutsideOfARepository(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", "/")
	t.Chdir(t.TempDir())
	var b bytes.Buffer
	inv := in(t, nil)
	inv.out = newOutput(&b)
	if err := (&doctorCmd{}).Run(inv); !errors.Is(err, errNo) {
		t.Errorf("got %v, expected the answer no", err)
	}
}
