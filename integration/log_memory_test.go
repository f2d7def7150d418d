package integration_test

import "testing"

// TestLogReadsMessagesInTurn lists the messages of a long session, while only a few may
// be in memory at once.
func TestLogReadsMessagesInTurn(t *testing.T) {
	t.Parallel()
	const messages = 50_000 // they need much more than is allowed if all are in memory
	r := newRepository(t)
	writeDocument(t, r.path("long.md"), func(w *documentWriter) {
		for k := range messages {
			w.printf("## user\n\nmessage %d\n\n", k)
		}
	})
	r.domarkx("import", "long.md")
	for _, args := range [][]string{{"log", "--messages", "long"}, {"log", "--json", "--messages", "long"}} {
		if _, peak := r.used("git-domarkx", args...); peak > 70_000_000 {
			t.Errorf("%v: peak memory %d MB, expected at most 70", args, peak/1e6)
		}
	}
}
