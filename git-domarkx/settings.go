package main

import (
	"context"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// settings is Git's configuration as the engine wants it.
type settings struct{ git *gitcmd.Git }

// All returns the values of a key.
func (s settings) All(ctx context.Context, key string) ([]string, error) {
	config, err := s.git.Config(ctx)
	if err != nil {
		return nil, err
	}
	return config.GetAll(key), nil
}

// Add adds a value to a key of the repository's own configuration.
func (s settings) Add(ctx context.Context, key, value string) error {
	return s.git.AddLocal(ctx, key, value)
}

// Remove removes a value from a key of the repository's own configuration.
func (s settings) Remove(ctx context.Context, key, value string) error {
	return s.git.UnsetLocalValue(ctx, key, value)
}
