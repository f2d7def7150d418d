package domarkx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

func TestCheckFilePath(t *testing.T) {
	for _, path := range []string{"shot.png", "img/shot.png", "a b/ü.png", "a..b", "C:/x", "~x", "%2e%2e/x", "a/-", strings.Repeat("x", 255)} {
		if err := domarkx.CheckFilePath(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, path := range []string{"", ".", "..", "../x", "a/../../x", "a/../x", "./x", "a//x", "x/", "/etc/passwd", "//host/x", `a\x`, `..\x`,
		"a\x00", "a\nb", "a\u0085", "\xff", ".git/config", "a/.hidden", ".x", strings.Repeat("x", 256), strings.Repeat("x/", 600) + "x"} {
		if err := domarkx.CheckFilePath(path); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
}
