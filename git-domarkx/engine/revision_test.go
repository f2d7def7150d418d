package engine_test

import (
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

func TestParseRevision(t *testing.T) {
	tests := []struct {
		in   string
		want engine.Revision
		bad  bool
	}{
		{in: "a", want: engine.Revision{Name: "a", Message: -1}},
		{in: "a/b-c.d", want: engine.Revision{Name: "a/b-c.d", Message: -1}},
		{in: "a~2", want: engine.Revision{Name: "a", Back: 2, Message: -1}},
		{in: "a~", want: engine.Revision{Name: "a", Back: 1, Message: -1}},
		{in: "a~~", want: engine.Revision{Name: "a", Back: 2, Message: -1}},
		{in: "a~0", want: engine.Revision{Name: "a", Message: -1}},
		{in: "a@beef", want: engine.Revision{Name: "a", ID: "beef", Message: -1}},
		{in: "a@beef~1", want: engine.Revision{Name: "a", ID: "beef", Back: 1, Message: -1}},
		{in: "a#0", want: engine.Revision{Name: "a", Message: 0}},
		{in: "a:7", want: engine.Revision{Name: "a", Message: 7}},
		{in: "a~1#3", want: engine.Revision{Name: "a", Back: 1, Message: 3}},
		{in: "a@beef:3", want: engine.Revision{Name: "a", ID: "beef", Message: 3}},
		{in: "ä b", want: engine.Revision{Name: "ä b", Message: -1}},
		{in: "", bad: true},
		{in: "#1", bad: true},
		{in: "a#", bad: true},
		{in: "a#x", bad: true},
		{in: "a#-1", bad: true},
		{in: "a#+1", bad: true},
		{in: "a#1#2", bad: true},
		{in: "a#1~2", bad: true},
		{in: "a@", bad: true},
		{in: "a@b@c", bad: true},
		{in: "a~1@b", bad: true},
		{in: "a~x", bad: true},
		{in: "a~9223372036854775807", want: engine.Revision{Name: "a", Back: 9223372036854775807, Message: -1}},
		{in: "a~9223372036854775807~1", bad: true},
		{in: "a~9223372036854775807~", bad: true},
		{in: "a~9223372036854775808", bad: true},
	}
	for _, tt := range tests {
		got, err := engine.ParseRevision(tt.in)
		if tt.bad != (err != nil) || err != nil && !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("ParseRevision(%q): error %v, want one: %t", tt.in, err, tt.bad)
			continue
		}
		if err == nil && got != tt.want {
			t.Errorf("ParseRevision(%q) = %+v, want %+v", tt.in, got, tt.want)
		}
	}
}
