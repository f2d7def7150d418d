package redact_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
)

// TestVersionWithoutResources redacts a session whose workspace has a version without resources, with secrets in what was observed.
func TestVersionWithoutResources(t *testing.T) {
	const branchSecret = "ghp_" + "k3J4h5G6f7D8s9A0q1W2e3R4t5Y6u7I8o9P0"
	c := enginetest.New(t)
	c.Appended("s", "Use "+secret+".")
	who, _, err := c.Env.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = c.Store.Update(t.Context(), "test", func(tx *gitstore.Tx) error {
		v, err := tx.CommitVersion(t.Context(), "s", domarkx.VersionCommit{Operation: "change", Subject: "Use " + secret,
			Observed: &domarkx.Observation{Branch: "fix/" + branchSecret, LeftOut: []domarkx.LeftOut{{Path: "a/" + secret, Reason: "large"}}}, Author: who, Committer: who})
		if err != nil {
			return err
		}
		return tx.SetWorkspace(t.Context(), "s", v.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	tip, err := c.Store.WorkspaceTip(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	c.Linked("s", tip.ID, enginetest.Saying(domarkx.Assistant, "Done."))
	result, err := redact.New(c.SessionManager, redact.NewRedactor(c.Store, c.Env, scan.New(c.Store, c.Env))).Redact(t.Context(), redact.Request{Name: "s"})
	if err != nil || len(result.Stuck) > 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if all := reachable(t, c.Dir); strings.Contains(all, secret) || strings.Contains(all, branchSecret) {
		t.Error("an object has the secret")
	}
	c.Fsck()
}
