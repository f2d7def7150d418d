package main

import (
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/when"
)

// period parses the options --since and --until. It returns times in Unix seconds, 0 for an
// option that is not given: from is included, to is not.
func period(since, until string) (from, to int64, err error) {
	now := time.Now()
	if since != "" {
		t, err := when.Since(since, now)
		if err != nil {
			return 0, 0, badValue("--since", err)
		}
		from = t.Unix()
	}
	if until != "" {
		t, err := when.Until(until, now)
		if err != nil {
			return 0, 0, badValue("--until", err)
		}
		to = t.Unix()
	}
	return from, to, nil
}
