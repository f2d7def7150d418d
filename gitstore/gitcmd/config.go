package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Config is a snapshot of Git's configuration, of all scopes and with included files.
// Later settings override earlier ones.
type Config struct {
	entries []Setting
	last    map[string]int // key → index of its last entry
}

// A Setting is one line of the configuration.
type Setting struct {
	Key     string // section and variable in lower case, subsection as written
	Value   string
	NoValue bool   // the variable has no "="
	Scope   string // system, global, local, worktree, command
}

// Config reads the configuration. It runs git once and caches the result.
func (g *Git) Config(ctx context.Context) (*Config, error) {
	return g.known.config.get(func() (*Config, error) {
		out, err := g.Run(ctx, nil, "config", "--list", "--show-scope", "-z")
		if err != nil {
			return nil, fmt.Errorf("reading the configuration: %w", err)
		}
		return parseConfig(string(out))
	})
}

// parseConfig parses SCOPE NUL KEY [LF VALUE] NUL, repeated (git-config(1), -z and
// --show-scope).
func parseConfig(out string) (*Config, error) {
	c := &Config{last: map[string]int{}}
	for out != "" {
		scope, rest, ok := strings.Cut(out, "\x00")
		entry, rest, ok2 := strings.Cut(rest, "\x00")
		if !ok || !ok2 {
			return nil, errors.New("reading the configuration: git's answer is cut off")
		}
		key, value, hasValue := strings.Cut(entry, "\n")
		c.last[key] = len(c.entries)
		c.entries = append(c.entries, Setting{Key: key, Value: value, NoValue: !hasValue, Scope: scope})
		out = rest
	}
	return c, nil
}

// normalize returns the spelling of a key that git lists.
func normalize(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// Lookup returns the effective setting of a key. As in git config, only subsections are
// case-sensitive.
func (c *Config) Lookup(key string) (Setting, bool) {
	i, ok := c.last[normalize(key)]
	if !ok {
		return Setting{}, false
	}
	return c.entries[i], true
}

// Get returns the effective value of a key.
func (c *Config) Get(key string) (string, bool) {
	s, ok := c.Lookup(key)
	return s.Value, ok
}

// GetAll returns all values of a key, the effective one last.
func (c *Config) GetAll(key string) []string { return c.values(key, func(string) bool { return true }) }

// LocalValues returns the values of a key in the repository's own configuration.
func (c *Config) LocalValues(key string) []string {
	return c.values(key, func(scope string) bool { return scope == "local" })
}

func (c *Config) values(key string, in func(scope string) bool) (values []string) {
	key = normalize(key)
	for _, s := range c.entries {
		if s.Key == key && in(s.Scope) {
			values = append(values, s.Value)
		}
	}
	return values
}

// Subsections returns the subsections of a section, for instance the names of the remotes for
// "remote", in the order of their first appearance.
func (c *Config) Subsections(section string) []string {
	var names []string
	seen := map[string]bool{}
	prefix := strings.ToLower(section) + "."
	for _, s := range c.entries {
		rest, ok := strings.CutPrefix(s.Key, prefix)
		end := strings.LastIndexByte(rest, '.')
		if !ok || end < 0 || seen[rest[:end]] {
			continue
		}
		seen[rest[:end]] = true
		names = append(names, rest[:end])
	}
	return names
}

// ExpiryDate returns a setting that is a date in the past, like gc.reflogExpireUnreachable.
// fallback is the default in git's notation ("30.days.ago"). "never" yields the zero time.
func (g *Git) ExpiryDate(ctx context.Context, key, fallback string) (time.Time, error) {
	out, err := g.Run(ctx, nil, "config", "--type=expiry-date", "--default="+fallback, "--get", key)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := parseInt(strings.TrimSpace(string(out)))
	if err != nil {
		// For "now" and "all" git prints the greatest unsigned 64-bit number.
		return time.Now(), nil
	}
	if seconds == 0 {
		return time.Time{}, nil
	}
	return time.Unix(seconds, 0), nil
}
