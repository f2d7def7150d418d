package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
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

// keep stores the attachments of an addition without the secrets that f replaces, and returns the addition as it is stored.
func (m *SessionManager) keep(ctx context.Context, tx *transaction.Tx, f transaction.Filter, a Addition) (keptAddition, error) {
	kept := keptAddition{message: a.Message, attachments: a.Attachments, moved: map[string]string{}}
	for _, data := range a.Extra {
		if _, _, err := kept.attach(ctx, tx, f, data); err != nil {
			return kept, err
		}
	}
	for _, file := range a.Files {
		sum, size, err := kept.attach(ctx, tx, f, file.Data)
		if err != nil {
			return kept, err
		}
		kept.files = append(kept.files, domarkx.AttachedFile{Path: file.Path, SHA256: sum, Size: size})
	}
	var err error
	if kept.message, err = f.Message(ctx, a.Message); err != nil || len(kept.moved) == 0 {
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
func (k *keptAddition) attach(ctx context.Context, tx *transaction.Tx, f transaction.Filter, data []byte) (sum string, size int64, err error) {
	a, size, err := tx.StoreAttachment(ctx, f, bytes.NewReader(data))
	if err != nil {
		return "", 0, err
	}
	before := sha256.Sum256(data)
	if name := hex.EncodeToString(before[:]); name != a.SHA256 {
		k.moved[name] = a.SHA256
	}
	k.attachments = append(k.attachments, a)
	return a.SHA256, size, nil
}
