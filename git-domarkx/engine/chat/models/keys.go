package models

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// Keys finds the keys of models.
type Keys struct {
	Getenv func(name string) string
	// Helper runs a command of the user's configuration and returns its output.
	Helper func(ctx context.Context, command string) (string, error)
	// Credential returns what Git's credential helpers have for a URL, or "". ask allows them to
	// ask the user.
	Credential func(ctx context.Context, url string, ask bool) (string, error)
}

// A KeyOrigin is where a key was found.
type KeyOrigin string

// The places of keys.
const (
	NoKey          KeyOrigin = "none"
	KeyFromEnv     KeyOrigin = "environment"
	KeyFromHelper  KeyOrigin = "helper"
	KeyFromGitCred KeyOrigin = "credential"
)

// Find returns the key of a model: from its variable, else from its helper, else from Git's
// credential helpers. A missing key is not an error: a server on this machine needs none.
// ask allows Git's helpers to ask the user, which they never do for a server on this machine.
func (k Keys) Find(ctx context.Context, d Definition, ask bool) (provider.Key, KeyOrigin, error) {
	if d.KeyEnv != "" {
		if secret := strings.TrimSpace(k.Getenv(d.KeyEnv)); secret != "" {
			return check(d, secret, KeyFromEnv)
		}
	}
	if d.KeyHelper != "" {
		out, err := k.Helper(ctx, d.KeyHelper)
		if err != nil {
			return provider.Key{}, NoKey, fmt.Errorf("key of model %q: keyHelper: %w", d.Name, err)
		}
		if secret := strings.TrimSpace(out); secret != "" {
			return check(d, secret, KeyFromHelper)
		}
	}
	host := d.URL.Hostname()
	ip := net.ParseIP(host)
	ask = ask && host != "localhost" && !(ip != nil && ip.IsLoopback())
	secret, err := k.Credential(ctx, d.URL.String(), ask)
	if err != nil {
		return provider.Key{}, NoKey, fmt.Errorf("key of model %q: git credential: %w", d.Name, err)
	}
	if secret == "" {
		return provider.Key{}, NoKey, nil
	}
	return check(d, secret, KeyFromGitCred)
}

// check refuses what cannot be in a header, without showing it.
func check(d Definition, secret string, from KeyOrigin) (provider.Key, KeyOrigin, error) {
	for i := range len(secret) {
		if secret[i] <= ' ' || secret[i] >= 0x7f {
			return provider.Key{}, NoKey, fmt.Errorf("key of model %q from %s: it has a space, a line end or a letter outside ASCII; keep only the key there", d.Name, from)
		}
	}
	return provider.NewKey(secret), from, nil
}
