package main

import (
	"time"

	"github.com/domarkx/domarkx/git-domarkx/find/when"
)

// period parses the options --since and --until. It returns the zero time for an option that is
// not given: from is included, to is not.
func period(since, until string) (from, to time.Time, err error) {
	now := time.Now()
	if since != "" {
		if from, err = when.Since(since, now); err != nil {
			return from, to, badValue("--since", err)
		}
	}
	if until != "" {
		if to, err = when.Until(until, now); err != nil {
			return from, to, badValue("--until", err)
		}
	}
	return from, to, nil
}
