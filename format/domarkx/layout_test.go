package domarkx_test

import (
	"slices"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

func TestSeparator(t *testing.T) {
	for _, test := range []struct {
		name         string
		before, next domarkx.Layout
		want         string
	}{
		{"after a line", domarkx.Layout{Tail: domarkx.TailLine}, domarkx.Layout{}, "\n"},
		{"tight after a line", domarkx.Layout{Tail: domarkx.TailLine}, domarkx.Layout{Tight: true}, ""},
		{"after CRLF", domarkx.Layout{Tail: domarkx.TailCRLF}, domarkx.Layout{}, "\r\n"},
		{"tight after CRLF", domarkx.Layout{Tail: domarkx.TailCRLF}, domarkx.Layout{Tight: true}, ""},
		{"after an open line", domarkx.Layout{Tail: domarkx.TailOpen}, domarkx.Layout{}, "\n\n"},
		{"tight after an open line", domarkx.Layout{Tail: domarkx.TailOpen}, domarkx.Layout{Tight: true}, "\n"},
		{"after a blank line", domarkx.Layout{Tail: domarkx.TailBlank}, domarkx.Layout{}, ""},
		{"after an open fence", domarkx.Layout{Tail: domarkx.TailLine, Fence: "```"}, domarkx.Layout{}, "```\n\n"},
		{"tight after an open fence", domarkx.Layout{Tail: domarkx.TailBlank, Fence: "~~~~"}, domarkx.Layout{Tight: true}, "~~~~\n"},
		{"after an open line in an open fence", domarkx.Layout{Tail: domarkx.TailOpen, Fence: "```"}, domarkx.Layout{}, "\n```\n\n"},
	} {
		if got := domarkx.Separator(test.before, test.next); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestArrange(t *testing.T) {
	empty := domarkx.Layout{Tail: domarkx.TailBlank}
	written := domarkx.Layout{Size: 9, Digest: [32]byte{1}, Verbatim: true, Tail: domarkx.TailOpen, Fence: "```"}
	canonical := domarkx.Layout{Size: 9, Digest: [32]byte{2}}
	including := domarkx.Layout{Size: 9, Digest: [32]byte{3}, Verbatim: true, Tail: domarkx.TailLine, Includes: "set", Span: 2}
	within := func(k int) domarkx.Layout {
		return domarkx.Layout{Size: 9, Digest: [32]byte{4}, Within: k, Includes: including.SpanID()}
	}
	other := within(2)
	other.Includes = "another"
	const c, w, n = domarkx.Canonical, domarkx.AsWritten, domarkx.Nothing
	for _, test := range []struct {
		name       string
		includes   string
		pieces     []domarkx.Layout
		forms      []domarkx.Form
		separators []string
	}{
		{"nothing", "", nil, []domarkx.Form{}, []string{}},
		{"no preamble", "", []domarkx.Layout{empty, canonical, canonical}, []domarkx.Form{c, c, c}, []string{"", "", "\n"}},
		{"unwritten messages", "", []domarkx.Layout{empty, {}, {}}, []domarkx.Form{c, c, c}, []string{"", "", "\n"}},
		{"a preamble", "", []domarkx.Layout{canonical, canonical}, []domarkx.Form{c, c}, []string{"", "\n"}},
		{"an open fence", "", []domarkx.Layout{empty, written, canonical}, []domarkx.Form{c, w, c}, []string{"", "", "\n```\n\n"}},
		{"a span", "set", []domarkx.Layout{empty, including, within(1), within(2), canonical},
			[]domarkx.Form{c, w, n, n, c}, []string{"", "", "", "", "\n"}},
		{"a span of other includes", "changed", []domarkx.Layout{empty, including, within(1), within(2), canonical},
			[]domarkx.Form{c, c, c, c, c}, []string{"", "", "\n", "\n", "\n"}},
		{"a span with a hole", "set", []domarkx.Layout{empty, including, within(2), canonical},
			[]domarkx.Form{c, c, c, c}, []string{"", "", "\n", "\n"}},
		{"a span cut short", "set", []domarkx.Layout{empty, including, within(1)}, []domarkx.Form{c, c, c}, []string{"", "", "\n"}},
		{"a span with a message of another", "set", []domarkx.Layout{empty, including, within(1), other},
			[]domarkx.Form{c, c, c, c}, []string{"", "", "\n", "\n"}},
		{"a span of the preamble", "set", []domarkx.Layout{including, within(1), within(2), canonical},
			[]domarkx.Form{w, n, n, c}, []string{"", "", "", "\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			forms, separators := []domarkx.Form{}, []string{}
			for _, p := range domarkx.Arrange(test.includes, len(test.pieces), func(i int) *domarkx.Layout { return &test.pieces[i] }) {
				forms, separators = append(forms, p.Form), append(separators, p.Separator)
			}
			if !slices.Equal(forms, test.forms) || !slices.Equal(separators, test.separators) {
				t.Errorf("got  %v %q\nwant %v %q", forms, separators, test.forms, test.separators)
			}
		})
	}
}
