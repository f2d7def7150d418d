package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// MaxFileSize is the maximum size in bytes of an attached file.
const MaxFileSize = 16 << 20

// attachOperation is the operation of snapshots that differ from their parent only in attached files.
const attachOperation = "attach"

// Attach creates a snapshot of a session that keeps a file under path, relative to the session's directory, and returns the
// newest snapshots before and after. If the session already keeps that file, it creates no snapshot and both are equal. The
// error matches [domarkx.ErrInvalid] if the path is not valid or the file is larger than [MaxFileSize], and
// [domarkx.ErrNotFound] if the session does not exist.
func (m *SessionManager) Attach(ctx context.Context, name, path string, content io.Reader) (before, after domarkx.Info, err error) {
	if err := domarkx.CheckFilePath(path); err != nil {
		return before, after, fmt.Errorf("attaching %q: %w", path, err)
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return before, after, err
	}
	data, err := io.ReadAll(io.LimitReader(content, MaxFileSize+1))
	if err != nil {
		return before, after, fmt.Errorf("attaching %q: %w", path, err)
	}
	if len(data) > MaxFileSize {
		return before, after, fmt.Errorf("attaching %q: %w: it has more than %d MiB", path, domarkx.ErrInvalid, MaxFileSize>>20)
	}
	err = m.Update(ctx, attachOperation+" "+name, func(tx *transaction.Tx) error {
		if before, err = tx.Tip(ctx, name); err != nil {
			return err
		}
		a, size, err := tx.StoreAttachment(ctx, transaction.AsIs(), bytes.NewReader(data))
		if err != nil {
			return err
		}
		file := domarkx.AttachedFile{Path: path, SHA256: a.SHA256, Size: size}
		kept, err := tx.Files(ctx, before.ID)
		if err != nil {
			return err
		}
		if after = before; slices.Contains(kept, file) {
			return nil
		}
		tail, err := m.Tail(ctx, before)
		if err != nil {
			return err
		}
		commit := domarkx.Commit{State: &domarkx.State{}, Operation: attachOperation, Subject: fmt.Sprintf("attach %s to %s", path, name),
			Author: author, Committer: committer, Attachments: []domarkx.Attachment{a}, Files: []domarkx.AttachedFile{file}}
		if commit.State.Headers, err = m.OwnedHeaders(ctx, tail.State.Headers); err != nil {
			return err
		}
		if after, err = tail.Append(ctx, tx, transaction.AsIs(), commit); err != nil {
			return err
		}
		after.Name = name
		return tx.Set(ctx, name, after, trust.Unchanged)
	})
	return before, after, err
}

// ImagesShown returns the paths of the images in a snapshot's Markdown, relative to the session's
// directory and without duplicates.
func (m *SessionManager) ImagesShown(ctx context.Context, snapshot string) ([]string, error) {
	text, err := m.TextOf(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, destination := range markdown.Images(string(text)) {
		if path, err := markdown.ImagePath(destination); err == nil && path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// pastAttached returns the newest snapshot of a session if it differs from base only in attached
// files, and base otherwise. Text that was edited from one of these snapshots applies to both.
func (m *SessionManager) pastAttached(ctx context.Context, name, base string) (string, error) {
	tip, err := m.store.Tip(ctx, name)
	if err != nil || tip.ID == base || tip.Operation != attachOperation || base == "" {
		return base, nil // the save that follows reports errors of the session
	}
	for info, err := range m.store.History(ctx, tip.ID) {
		if err != nil {
			return "", err
		}
		if info.ID == base && info.Bytes == tip.Bytes {
			return tip.ID, nil
		}
		if info.Operation != attachOperation {
			break
		}
	}
	return base, nil
}

// WriteAttachment writes an attachment of a snapshot to w: the full output that a message holds
// only the beginning of. The attachment is identified by its SHA-256 in hexadecimal. The error
// matches [domarkx.ErrNotFound] if the snapshot has no such attachment.
func (m *SessionManager) WriteAttachment(ctx context.Context, r Revision, sha256 string, w io.Writer) error {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return err
	}
	c, err := m.store.Attachment(ctx, info.ID, sha256)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.Copy(w, io.NewSectionReader(c, 0, c.Size()))
	return err
}

// Attachment opens an attachment of a snapshot by its SHA-256 in hexadecimal. The error matches
// domarkx.ErrNotFound if the snapshot has no such attachment.
func (m *SessionManager) Attachment(ctx context.Context, snapshot, sha256 string) (domarkx.Content, error) {
	return m.store.Attachment(ctx, snapshot, sha256)
}

// IsImage reports whether content that starts with head is a PNG, JPEG, GIF, WebP or AVIF image.
// SVG is excluded: it is text without a reliable signature, and it can contain scripts and links.
func IsImage(head []byte) bool {
	for _, begin := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	if len(head) < 12 {
		return false
	}
	kind := string(head[4:12])
	return string(head[:4]) == "RIFF" && kind[4:] == "WEBP" || kind == "ftypavif" || kind == "ftypavis"
}

// Attached maps each session that works in a workspace of another name to that workspace.
func (m *SessionManager) Attached(ctx context.Context) (map[string]string, error) {
	return local.Attached(ctx, m.env.Local)
}

// NoWorkspace returns the error for a session that asks for no resources.
func NoWorkspace(session string) error {
	return &RefusedError{Reason: fmt.Sprintf("%q has no workspace: it needs a workspace-config block with a list of resources, or an engine in its session-config, such as {\"engine\": \"local_shell\"}; or the repository has [[resources]] in %s", session, project.File)}
}

// WorkspaceOf returns the name of the workspace that a session works in.
func (m *SessionManager) WorkspaceOf(ctx context.Context, session string) (string, error) {
	return local.WorkspaceOf(ctx, m.env.Local, session)
}

// Assign makes a session work in a workspace, or in that of its own name if workspace is "".
func (m *SessionManager) Assign(ctx context.Context, session, workspace string) error {
	if session == workspace {
		workspace = ""
	}
	all, err := m.Attached(ctx)
	if err != nil || all[session] == workspace {
		return err
	}
	return local.Attach(ctx, m.env.Local, session, workspace)
}

// CheckVacant returns [domarkx.ErrExists] if the instance of workspace from cannot be renamed to to
// because this machine has an instance of that name.
func (m *SessionManager) CheckVacant(ctx context.Context, from, to string) error {
	if _, err := m.env.Workspaces.Instance(ctx, to); from == to || errors.Is(err, domarkx.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return fmt.Errorf("workspace %q: %w on this machine; git domarkx workspace rm %s removes it", to, domarkx.ErrExists, refname.Argument(to))
}
