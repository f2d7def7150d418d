package turns

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// chatOperation is the operation of snapshots that a chat creates.
const chatOperation = "chat"

// A File is a file to attach to a session.
type File = engine.File

// A Reply is a message to add to a session.
type Reply struct {
	ID      domarkx.ID // from [Turn.NewID]; adding a message with the id of an existing one is an error
	Message domarkx.Message
	Files   []File   // files to attach; the message must use the paths that [Turn.FreePath] returned
	Extra   [][]byte // other attachments, found by their SHA-256
}

// NewID returns an id for a message.
func (t *Turn) NewID(ctx context.Context) (domarkx.ID, error) {
	_, committer, err := t.m.env.Identity(ctx)
	if err != nil {
		return domarkx.ID{}, err
	}
	return domarkx.NewID(0, committer.When), nil
}

// FreePath returns the path under which the session can keep a file of this content: the wanted
// one, or a similar one if it keeps another file there or one of more has that path.
func (t *Turn) FreePath(ctx context.Context, wanted string, data []byte, more []File) (string, error) {
	if err := domarkx.CheckFilePath(wanted); err != nil {
		return "", err
	}
	kept, err := t.Files(ctx)
	if err != nil {
		return "", err
	}
	digests := map[string]string{}
	for _, f := range kept {
		digests[f.Path] = f.SHA256
	}
	for _, f := range more {
		digests[f.Path] = digestOf(f.Data)
	}
	digest := digestOf(data)
	ext := path.Ext(wanted)
	for name, n := wanted, 2; ; n++ {
		if there, taken := digests[name]; !taken || there == digest {
			return name, nil
		}
		name = strings.TrimSuffix(wanted, ext) + "-" + strconv.Itoa(n) + ext
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Add adds a message of the user to the session, which it creates if the request of the turn says
// so. It never extends trust to anything.
func (t *Turn) Add(ctx context.Context, r Reply) (domarkx.Info, error) {
	return t.add(ctx, r, "")
}

// Answer adds an answer of a model, linked to the present version of the workspace. Its calls are
// pending. Adding it does not make the user trust anything in it.
func (t *Turn) Answer(ctx context.Context, r Reply) (domarkx.Info, error) {
	tip, err := t.Tip(ctx)
	if err != nil {
		return tip, err
	}
	if tip.ID != "" { // cache the digests, so that those with the answer cost nothing
		if _, _, err := t.m.trust.Digests(ctx, tip); err != nil {
			return tip, err
		}
	}
	link, err := t.link(ctx)
	if err != nil {
		return tip, err
	}
	return t.add(ctx, r, link)
}

func (t *Turn) add(ctx context.Context, r Reply, link string) (domarkx.Info, error) {
	a := engine.Addition{Message: r.Message, ID: r.ID, Link: link, Files: r.Files, Extra: r.Extra}
	return t.m.add(ctx, engine.Change{Name: t.request.Name, Operation: chatOperation}, a, t.request.New, func(msg domarkx.Message) trust.Extension {
		return trust.AppendedTo(t.chain, r.ID, msg)
	})
}

// maxAttachmentRead limits an attachment that [Turn.Attachment] reads, in bytes.
const maxAttachmentRead = 256 << 20

// Attachment returns an attachment of the session by its SHA-256 in hexadecimal, and nil if the
// session does not have it or if it is larger than 256 MiB.
func (t *Turn) Attachment(ctx context.Context, sha256 string) ([]byte, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return nil, err
	}
	return t.m.AttachmentOf(ctx, tip, sha256)
}

// AttachmentOf is like [Turn.Attachment], for a snapshot.
func (m *Manager) AttachmentOf(ctx context.Context, snapshot domarkx.Info, sha256 string) ([]byte, error) {
	c, err := m.store.Attachment(ctx, snapshot.ID, sha256)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Size() > maxAttachmentRead {
		return nil, nil
	}
	return io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
}

// Files returns the files that the session keeps by path.
func (t *Turn) Files(ctx context.Context) ([]domarkx.AttachedFile, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return nil, err
	}
	return t.m.store.Files(ctx, tip.ID)
}
