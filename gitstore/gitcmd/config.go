package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Config is Git's configuration at one moment, of all scopes and with includes.
// Later settings win over earlier ones.
type Config struct {
	entries []Setting
	last    map[string]int // key -> index of the last entry with it
}

// A Setting is one line of configuration.
type Setting struct {
	Key     string // section and variable in lower case, subsection as written
	Value   string
	NoValue bool   // the variable stands alone, without "="
	Scope   string // system, global, local, worktree, command
}

// Config reads the configuration with one git, once.
func (g *Git) Config(ctx context.Context) (*Config, error) {
	return g.config.get(func() (*Config, error) {
		out, err := g.Run(ctx, nil, "config", "--list", "--show-scope", "-z")
		if err != nil {
			return nil, fmt.Errorf("reading the configuration: %w", err)
		}
		return parseConfig(string(out))
	})
}

// parseConfig reads SCOPE NUL KEY [LF VALUE] NUL, repeated (git-config(1), -z and
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

// normalize spells a key as git lists it.
func normalize(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// Lookup returns the setting that counts for a key, which is spelled as for
// git config: only a subsection minds its case.
func (c *Config) Lookup(key string) (Setting, bool) {
	i, ok := c.last[normalize(key)]
	if !ok {
		return Setting{}, false
	}
	return c.entries[i], true
}

// Get returns the value that counts for a key.
func (c *Config) Get(key string) (string, bool) {
	s, ok := c.Lookup(key)
	return s.Value, ok
}

// GetAll returns all values of a key, the one that counts last.
func (c *Config) GetAll(key string) []string {
	key = normalize(key)
	if _, ok := c.last[key]; !ok {
		return nil
	}
	var values []string
	for _, s := range c.entries {
		if s.Key == key {
			values = append(values, s.Value)
		}
	}
	return values
}

// Subsections returns the subsections of a section in the order of their first
// appearance, like the names of the remotes for "remote".
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

// LocalValues returns the values of a key in the repository's own configuration.
func (c *Config) LocalValues(key string) []string {
	key = normalize(key)
	var values []string
	for _, s := range c.entries {
		if s.Key == key && s.Scope == "local" {
			values = append(values, s.Value)
		}
	}
	return values
}

// ExpiryDate asks git for a setting that is a date in the past, like
// gc.reflogExpireUnreachable; fallback is in git's words ("30.days.ago"). What is
// to be kept for ever ("never") expires at the zero time.
func (g *Git) ExpiryDate(ctx context.Context, key, fallback string) (time.Time, error) {
	out, err := g.Run(ctx, nil, "config", "--type=expiry-date", "--default="+fallback, "--get", key)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := parseInt(strings.TrimSpace(string(out)))
	if err != nil {
		// "now" and "all" are the greatest number of 64 bits without a sign.
		return time.Now(), nil
	}
	if seconds == 0 {
		return time.Time{}, nil
	}
	return time.Unix(seconds, 0), nil
}
