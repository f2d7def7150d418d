package main

import (
	"context"
	"errors"
	"strings"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// settings is Git's configuration as the engine wants it.
type settings struct{ git *gitcmd.Git }

// All returns the values of a key as they are now, also when another process
// changed them since this one began.
func (s settings) All(ctx context.Context, key string) ([]string, error) {
	out, err := s.git.Run(ctx, nil, "config", "-z", "--get-all", key)
	var failed *gitcmd.Error
	if errors.As(err, &failed) && failed.Code == 1 {
		return nil, nil
	}
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// Add adds a value to a key of the repository's own configuration.
func (s settings) Add(ctx context.Context, key, value string) error {
	return s.git.AddLocal(ctx, key, value)
}

// Remove removes a value from a key of the repository's own configuration.
func (s settings) Remove(ctx context.Context, key, value string) error {
	return s.git.UnsetLocalValue(ctx, key, value)
}
