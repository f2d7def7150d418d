package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// An Addition is a message to append to a session, with what belongs to it. All of it may have secrets, which are not stored
// in a redacted session.
type Addition struct {
	Message domarkx.Message
	ID      domarkx.ID
	Link    string   // the workspace version that the message's calls produced; "" for none
	Files   []File   // files to attach
	Extra   [][]byte // other attachments, which the message names by their SHA-256

	Attachments []domarkx.Attachment // the outputs of calls, which the transaction has stored already
}

// A File is a file to attach to a session.
type File struct {
	Path string // in the session; see [domarkx.CheckFilePath]
	Data []byte
}

// A keptAddition is an addition as it is stored.
type keptAddition struct {
	message     domarkx.Message
	attachments []domarkx.Attachment
	files       []domarkx.AttachedFile
	moved       map[string]string // SHA-256 of an attachment → that of its redacted form
}

// keep stores the attachments of an addition to the session whose newest snapshot is tip, "" for a new session, and removes the
// secrets if the session was redacted. Everything that is appended passes here.
func (m *SessionManager) keep(ctx context.Context, tx *gitstore.Tx, tip string, a Addition) (keptAddition, error) {
	kept := keptAddition{message: a.Message, attachments: a.Attachments, moved: map[string]string{}}
	filter, err := m.Filter(ctx, tip)
	if err != nil {
		return kept, err
	}
	for _, data := range a.Extra {
		if _, _, err := kept.attach(ctx, tx, filter, data); err != nil {
			return kept, err
		}
	}
	for _, f := range a.Files {
		sum, size, err := kept.attach(ctx, tx, filter, f.Data)
		if err != nil {
			return kept, err
		}
		kept.files = append(kept.files, domarkx.AttachedFile{Path: f.Path, SHA256: sum, Size: size})
	}
	if kept.message, err = filter.Message(ctx, a.Message); err != nil || len(kept.moved) == 0 {
		return kept, err
	}
	text := string(view.PrettyJSON(kept.message.Value()))
	for from, to := range kept.moved {
		text = strings.ReplaceAll(text, from, to)
	}
	value, err := jsonvalue.ParseValue([]byte(text))
	if err == nil {
		kept.message, err = domarkx.ParseMessage(value, "")
	}
	return kept, err
}

// attach stores an attachment and returns its SHA-256 and its size in bytes.
func (k *keptAddition) attach(ctx context.Context, tx *gitstore.Tx, filter Filter, data []byte) (sum string, size int64, err error) {
	content := data
	if redacted, err := filter.File(ctx, data); err != nil {
		return "", 0, err
	} else if redacted != nil {
		content = redacted
	}
	blob, sum, err := tx.StoreAttachment(ctx, bytes.NewReader(content))
	if err != nil {
		return "", 0, err
	}
	before := sha256.Sum256(data)
	if name := hex.EncodeToString(before[:]); name != sum {
		k.moved[name] = sum
	}
	k.attachments = append(k.attachments, domarkx.Attachment{SHA256: sum, Blob: blob})
	return sum, int64(len(content)), nil
}
