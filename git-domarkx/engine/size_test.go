package engine_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// The reported size of a snapshot equals the length of its document, regardless of earlier
// measurements, and also if both sides of a merge changed a message.
func TestSize(t *testing.T) {
	c := inConflict(t, "## user\n\nthis\n", "## user\n\nthat\n")
	ctx := context.Background()
	for _, text := range []string{"one", "two \"quoted\" <b>", "drei\n\n- é\n"} {
		if _, err := c.Append(ctx, turns.AppendRequest{Name: "a", New: true, Role: "user", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	tip, err := c.Store.Tip(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	for info, err := range c.Store.History(ctx, tip.ID) {
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []engine.Form{engine.JSON, engine.Markdown, engine.JSON} {
			var b bytes.Buffer
			if err := c.Write(ctx, info.ID, form, &b); err != nil {
				t.Fatal(err)
			}
			size, err := c.Size(ctx, info.ID, form)
			if err != nil || size != int64(b.Len()) {
				t.Errorf("snapshot %d: size %d, %v; the document has %d bytes", info.Number, size, err, b.Len())
			}
		}
	}
}
