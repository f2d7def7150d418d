package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Config is a snapshot of Git's configuration, of all scopes and with included files.
// Later settings override earlier ones.
type Config struct {
	keys   []string             // in the order of their first appearance; section and variable in lower case, subsection as written
	values map[string][]setting // of a key, the effective one last
}

// A setting is one line of the configuration.
type setting struct {
	value   string
	noValue bool // the variable has no "="
}

// Config reads the configuration. It runs git once and caches the result.
func (g *Git) Config(ctx context.Context) (*Config, error) {
	return g.known.config.get(func() (*Config, error) {
		out, err := g.Run(ctx, nil, "config", "--list", "-z")
		if err != nil {
			return nil, fmt.Errorf("reading the configuration: %w", err)
		}
		return parseConfig(string(out))
	})
}

// parseConfig parses KEY [LF VALUE] NUL, repeated (git-config(1), -z).
func parseConfig(out string) (*Config, error) {
	c := &Config{values: map[string][]setting{}}
	for out != "" {
		entry, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errors.New("reading the configuration: git's answer is cut off")
		}
		key, value, hasValue := strings.Cut(entry, "\n")
		if c.values[key] == nil {
			c.keys = append(c.keys, key)
		}
		c.values[key] = append(c.values[key], setting{value, !hasValue})
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

// lookup returns the effective setting of a key. As in git config, only subsections are
// case-sensitive.
func (c *Config) lookup(key string) (setting, bool) {
	all := c.values[normalize(key)]
	if len(all) == 0 {
		return setting{}, false
	}
	return all[len(all)-1], true
}

// Get returns the effective value of a key.
func (c *Config) Get(key string) (string, bool) {
	s, ok := c.lookup(key)
	return s.value, ok
}

// GetAll returns all values of a key, the effective one last.
func (c *Config) GetAll(key string) (values []string) {
	for _, s := range c.values[normalize(key)] {
		values = append(values, s.value)
	}
	return values
}

// Subsections returns the subsections of a section, for instance the names of the remotes for
// "remote", in the order of their first appearance.
func (c *Config) Subsections(section string) []string {
	var names []string
	prefix := strings.ToLower(section) + "."
	for _, key := range c.keys {
		rest, ok := strings.CutPrefix(key, prefix)
		end := strings.LastIndexByte(rest, '.')
		if ok && end >= 0 && !slices.Contains(names, rest[:end]) {
			names = append(names, rest[:end])
		}
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
