package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A SetupError means that the setup script of a session failed.
type SetupError struct {
	Session string
	Output  string // output of the script so far
	Reason  string
}

// Error returns a message that says what to do.
func (e *SetupError) Error() string {
	return fmt.Sprintf("the setup script of %q %s; git domarkx run --retry %s runs it again", e.Session, e.Reason, refname.Argument(e.Session))
}

// setupFile returns the path of a file that exists until the setup script of a new workspace has succeeded.
func (m *Manager) setupFile(workspace string) string {
	return filepath.Join(m.env.StateDir, "setup", local.FileName(workspace))
}

// prepare creates the first version of a workspace, with its resources as created, and then runs
// the setup script once. A script that failed or was interrupted runs again only if retry is set.
func (b *openWorkspace) prepare(ctx context.Context, session string, retry bool) error {
	file := b.m.setupFile(b.workspace)
	begun := false
	if _, err := os.Stat(file); err == nil {
		begun = true
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if b.tip.ID == "" {
		if b.header.Setup != nil {
			if err := local.Replace(file, []byte("new\n")); err != nil {
				return err
			}
			begun = true
		}
		if err := b.commitAs(ctx, b.live.Commit, "create", "create the resources", true); err != nil {
			return err
		}
	}
	if !begun {
		return nil
	}
	if b.header.Setup == nil { // it was removed from the document
		return atomicfile.Remove(file)
	}
	state, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(state) != "new\n" && !retry {
		return &SetupError{Session: session, Reason: "did not end well when it was run"}
	}
	if err := local.Replace(file, []byte("run\n")); err != nil {
		return err
	}
	if err := b.commitChanges(ctx); err != nil {
		return err
	}
	failure := b.setUp(ctx, session)
	if err := b.commitAs(context.WithoutCancel(ctx), b.live.Commit, "setup", "run the setup script", false); failure != nil || err != nil {
		return errors.Join(failure, err)
	}
	return atomicfile.Remove(file)
}

// setUp runs the setup script.
func (b *openWorkspace) setUp(ctx context.Context, session string) error {
	p, err := b.gate.Permit(ctx, trust.Call{By: b.permit, In: b.live, Block: domarkx.Block{Language: b.header.Setup.Language, Text: b.header.Setup.Code}})
	if err != nil {
		return err
	}
	_, r, err := b.live.Run(ctx, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &SetupError{Session: session, Reason: "failed: " + toolcall.Failed(err).Message}
	}
	if r.Attachment != nil {
		defer r.Attachment.Close()
	}
	reason := ""
	if transcript.Get(r.Value, "timed_out").IsTrue() {
		reason = "was ended: its time ran out"
	} else if code, ok := r.Value.Get("exit_code"); ok && code.Text() != "0" {
		reason = "failed with exit code " + code.Text()
	}
	if reason != "" {
		return &SetupError{Session: session, Output: transcript.Text(r.Value, "output"), Reason: reason}
	}
	return nil
}

// spool copies r to a temporary file, so that it can be read more than once.
func (m *Manager) spool(r io.ReadCloser) (*local.Temporary, error) {
	defer r.Close()
	if err := os.MkdirAll(m.env.StateDir, 0o700); err != nil {
		return nil, err
	}
	return local.NewTemporary(m.env.StateDir, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
}
