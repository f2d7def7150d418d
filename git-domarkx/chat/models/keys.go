package models

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Keys finds the API keys of models.
type Keys struct {
	Getenv func(name string) string
	// Helper runs a command from the user's configuration and returns its output.
	Helper func(ctx context.Context, command string) (string, error)
	// Credential returns the password that Git's credential helpers have for a URL, or "". If ask
	// is false, the helpers must not prompt the user.
	Credential func(ctx context.Context, url string, ask bool) (string, error)
}

// A KeyOrigin is the place where a key was found.
type KeyOrigin string

// The places where keys are found.
const (
	NoKey          KeyOrigin = "none"
	KeyFromEnv     KeyOrigin = "environment"
	KeyFromHelper  KeyOrigin = "helper"
	KeyFromGitCred KeyOrigin = "credential"
)

// Find returns the key of a model and where it was found. It tries the environment variable, then
// the user's helper, then Git's credential helpers. A missing key is not an error, because a server
// on this machine needs none. If ask is false, or if the server is on this machine, Git's helpers
// do not prompt the user.
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
	secret, err := k.Credential(ctx, d.URL.String(), ask && !provider.IsLoopback(d.URL.Hostname()))
	if err != nil {
		return provider.Key{}, NoKey, fmt.Errorf("key of model %q: git credential: %w", d.Name, err)
	}
	if secret == "" {
		return provider.Key{}, NoKey, nil
	}
	return check(d, secret, KeyFromGitCred)
}

// check returns an error if a key contains characters that an HTTP header cannot contain. The error
// does not contain the key.
func check(d Definition, secret string, from KeyOrigin) (provider.Key, KeyOrigin, error) {
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return provider.Key{}, NoKey, fmt.Errorf("key of model %q from %s: it has a space, a line end or a letter outside ASCII; keep only the key there", d.Name, from)
	}
	return provider.NewKey(secret), from, nil
}
