package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestSearchKilled kills searches while they index, at ever later moments, and checks that the next one finds
// everything, and that an import beside searches disturbs none of them.
func TestSearchKilled(t *testing.T) {
	t.Parallel()
	const messages = 2000
	r := newRepository(t)
	r.write("s.md", document("s", messages))
	r.domarkx("import", "s.md")
	for i := range 12 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i*i)*4*time.Millisecond) // ends with SIGKILL
		_ = r.command(ctx, "git-domarkx", "search", "fox").Run()
		cancel()
		if i%4 == 3 {
			if err := os.Remove(r.path(".git/domarkx/search.db")); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	if got := strings.Count(r.domarkx("search", "fox"), "\n"); got != messages {
		t.Errorf("found %d of %d messages by a word", got, messages)
	}
	if got := strings.Count(r.domarkx("search", "-F", "brown fox"), "\n"); got != messages {
		t.Errorf("found %d of %d messages by a text", got, messages)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 5 {
			r.try(document(fmt.Sprintf("t%d", i), 20), "git-domarkx", "append", "--new", fmt.Sprintf("t%d", i))
		}
	}()
	for range 5 {
		if o := r.try("", "git-domarkx", "search", "fox"); o.code != 0 || o.err != "" || strings.Count(o.out, "\n") < messages {
			t.Errorf("exit %d, %d lines, stderr %s", o.code, strings.Count(o.out, "\n"), o.err)
		}
	}
	<-done
}
