package gitcmd_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

func FuzzConfig(f *testing.F) {
	f.Add("local\x00core.bare\nfalse\x00command\x00a.B.c\x00", "a.B.C")
	f.Add("local\x00x", "remote..url")
	f.Fuzz(func(t *testing.T, out, key string) {
		c, err := gitcmd.ParseConfig(out)
		if err != nil {
			return
		}
		value, ok := c.Get(key)
		if all := c.GetAll(key); ok != (len(all) > 0) || ok && all[len(all)-1] != value {
			t.Errorf("Get(%q) = %q, %v, GetAll = %q", key, value, ok, all)
		}
		c.Bool(key, false)
		c.Int(key, 0)
		for _, name := range c.Subsections("remote") {
			if !strings.Contains(out, name) {
				t.Errorf("Subsections has %q", name)
			}
		}
	})
}

func FuzzIdent(f *testing.F) {
	f.Add("Ada <ada@example.com> 1700000000 +0100")
	f.Add("<> 1 -1200")
	f.Fuzz(func(t *testing.T, line string) {
		who, err := gitcmd.ParseIdent(line)
		if err == nil && (!strings.Contains(line, who.Name) || !strings.Contains(line, who.Email)) {
			t.Errorf("%q gives %+v", line, who)
		}
	})
}

func FuzzInt(f *testing.F) {
	for _, seed := range []string{"1", "-2k", "0x1F", "010", "9223372036854775807", "8g", " 1", "1_0", "0b1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := gitcmd.ParseInt(text); err == nil && strings.HasPrefix(text, "-") && n > 0 {
			t.Errorf("%q gives %d", text, n)
		}
	})
}
