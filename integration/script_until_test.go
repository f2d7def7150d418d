package integration_test

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptUntil implements "until REGEXP PROGRAM [ARG...]", which repeats a program until it succeeds and its output matches, to wait
// for other processes that send no notification. In REGEXP, ^ and $ match at lines.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM [ARG...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	deadline := time.Now().Add(2 * time.Minute)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := run(ts, args[1], args[2:]...)
		if err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not so within 2 minutes: %v", err)
		}
		time.Sleep(wait)
	}
}

// scriptAgo implements "ago WEEKS PROGRAM [ARG...]", which runs a program that makes commits as it would have so many weeks ago.
func scriptAgo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ago WEEKS PROGRAM [ARG...]")
	}
	weeks, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, name := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		ts.Setenv(name, fmt.Sprintf("@%d +0000", time.Now().AddDate(0, 0, -7*weeks).Unix()))
		defer ts.Setenv(name, "")
	}
	outcomeOf(ts, false, run(ts, args[1], args[2:]...))
}
