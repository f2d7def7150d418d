package format_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
)

func TestLosses(t *testing.T) {
	var l format.Losses
	if texts := l.Texts(); texts != nil || l.Len() != 0 {
		t.Errorf("none: %q", texts)
	}
	target := format.Target{Losses: &l}
	target.Lose("setup_script")
	for i := range 12 {
		target.LoseOf(i, "a %s", "text")
		target.LoseOf(i, "a text") // the same message
		target.LoseCall("failures of calls")
	}
	target.LoseOf(12, "a picture")
	want := []string{"setup_script", "a text: 12 messages", "failures of calls: 12 calls", "a picture: 1 message"}
	if diff := cmp.Diff(want, l.Texts()); diff != "" || l.Len() != 38 {
		t.Errorf("%d (-want +got):\n%s", l.Len(), diff)
	}
	target.ForgetLosses()
	if texts := l.Texts(); texts != nil || l.Len() != 0 {
		t.Errorf("after they were forgotten: %q", texts)
	}
	format.Target{}.LoseOf(3, "nobody is told of %s", "it")
	format.Target{}.LoseCall("nobody is told of it")
}

// Who loses something else with each message, and much, takes no more memory for it.
func TestHostileLosses(t *testing.T) {
	var l format.Losses
	size := 1 << 20
	if testing.Short() { // to copy them takes seconds
		size = 1 << 12
	}
	long := strings.Repeat("x", size)
	for i := range 3000 {
		l.Add(i, fmt.Sprint(i, long))
	}
	texts := l.Texts()
	if last := texts[len(texts)-1]; l.Len() != 3000 || len(texts) != 1001 || !strings.HasPrefix(last, "perhaps more") {
		t.Errorf("%d lost, %d told, the last %q", l.Len(), len(texts), last)
	}
	if i := slices.IndexFunc(texts, func(s string) bool { return len(s) > 400 }); i >= 0 {
		t.Errorf("a text of %d bytes", len(texts[i]))
	}
}
