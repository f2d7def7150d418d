package provider

import (
	"fmt"
	"strings"
)

// A Key is a provider's API key. It is never printed: every format shows "[key]".
type Key struct{ secret string }

// NewKey returns the key with this text; "" stands for no key.
func NewKey(secret string) Key { return Key{secret} }

// Secret returns the key's text, which only a request to the key's own provider may hold.
func (k Key) Secret() string { return k.secret }

// IsZero reports whether the key is absent.
func (k Key) IsZero() bool { return k.secret == "" }

// Format implements [fmt.Formatter].
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("[key]")) }

// MarshalText implements [encoding.TextMarshaler] without showing the key.
func (k Key) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// Redact replaces the key in a text that may repeat it.
func (k Key) Redact(text string) string {
	if k.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, k.secret, "[key]")
}
