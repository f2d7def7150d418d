package gitcmd

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Bool returns a boolean setting. As in git, yes, on, true, a variable without "=" and numbers
// other than 0 are true; no, off, false, the empty value and 0 are false. fallback is returned
// for a missing setting. Any other value is [domarkx.ErrInvalid].
func (c *Config) Bool(key string, fallback bool) (bool, error) {
	s, ok := c.lookup(key)
	if !ok {
		return fallback, nil
	}
	if s.noValue {
		return true, nil
	}
	switch strings.ToLower(s.value) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off", "":
		return false, nil
	}
	if n, err := parseInt(s.value); err == nil {
		return n != 0, nil
	}
	return false, fmt.Errorf("git config %s is %q, which is neither true nor false: %w", normalize(key), s.value, domarkx.ErrInvalid)
}

// Int returns an integer setting. As in git, it is decimal, 0x… or octal with a leading 0, with
// an optional k, m or g for powers of 1024. fallback is returned for a missing setting. Any
// other value is [domarkx.ErrInvalid].
func (c *Config) Int(key string, fallback int64) (int64, error) {
	s, ok := c.lookup(key)
	if !ok {
		return fallback, nil
	}
	n, err := parseInt(s.value)
	if err != nil {
		return 0, fmt.Errorf("git config %s is %q, which is not a number: %w", normalize(key), s.value, domarkx.ErrInvalid)
	}
	return n, nil
}

// Path returns a setting that is a file name; a leading ~/ is replaced by the home directory.
// It returns "" for a missing setting.
func (c *Config) Path(key string) (string, error) {
	value, _ := c.Get(key)
	rest, ok := strings.CutPrefix(value, "~/")
	if !ok {
		return value, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("git config %s is %q: %w", key, value, err)
	}
	return filepath.Join(home, rest), nil
}

// parseInt does what git_parse_int64 does: strtoimax with base 0, and a unit.
func parseInt(text string) (int64, error) {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	unit := int64(1)
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'k', 'K':
			unit = 1 << 10
		case 'm', 'M':
			unit = 1 << 20
		case 'g', 'G':
			unit = 1 << 30
		}
		if unit > 1 {
			text = text[:n-1]
		}
	}
	if strings.Contains(text, "_") || hasGoPrefix(text) {
		return 0, strconv.ErrSyntax // spellings of Go that C does not accept
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, strconv.ErrRange
	}
	return n * unit, nil
}

// hasGoPrefix reports the prefixes 0b and 0o, which C does not accept.
func hasGoPrefix(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, "+-"))
	return strings.HasPrefix(text, "0b") || strings.HasPrefix(text, "0o")
}
