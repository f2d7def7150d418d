package beneath_test

import (
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/beneath"
)

// TestRacy: a file that changed within the resolution of its timestamps may change again without showing it.
func TestRacy(t *testing.T) {
	now := time.Unix(1_700_000_000, 500_000_000)
	at := func(ago time.Duration) int64 { return now.Add(-ago).UnixNano() }
	whole := now.Truncate(time.Second).UnixNano()
	for name, test := range map[string]struct {
		stat beneath.Stat
		want bool
	}{
		"long ago":                     {beneath.Stat{Mtime: at(time.Hour), Ctime: at(time.Hour)}, false},
		"just now":                     {beneath.Stat{Mtime: at(time.Millisecond), Ctime: at(time.Millisecond)}, true},
		"an old mtime was set":         {beneath.Stat{Mtime: at(time.Hour), Ctime: at(time.Millisecond)}, true},
		"in the future":                {beneath.Stat{Mtime: at(time.Hour), Ctime: at(-time.Hour)}, true},
		"whole seconds":                {beneath.Stat{Mtime: whole, Ctime: whole}, true},
		"whole seconds, some time ago": {beneath.Stat{Mtime: whole - 3e9, Ctime: whole - 3e9}, false},
		"no ctime":                     {beneath.Stat{Mtime: at(time.Millisecond)}, true},
		"no ctime, long ago":           {beneath.Stat{Mtime: at(time.Hour)}, false},
	} {
		if got := test.stat.Racy(now); got != test.want {
			t.Errorf("%s: racy %t, want %t", name, got, test.want)
		}
	}
}
