package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// keepNamedFiles stores the files that the messages of an imported document name, and records the digest of each in its
// message. If a file no longer exists, the message keeps the digest that the base has. If a file cannot be stored,
// keepNamedFiles adds a warning. changed reports whether it has changed a message.
func (imp *importer) keepNamedFiles(ctx context.Context, in input, filter transaction.Filter, doc *domarkx.Document, base *view.View) (added []domarkx.Attachment, changed bool, err error) {
	files := in.codec.NamedFiles
	if files == nil {
		return nil, false, nil
	}
	before, err := attachmentsOf(ctx, files, base)
	if err != nil {
		return nil, false, err
	}
	kept := map[string]string{}
	imp.namedFiles = map[string]sources.File{}
	for i, m := range doc.Conversation {
		path := files.Of(m.Message)
		if path == "" {
			continue
		}
		digest, known := kept[path]
		if !known {
			look, _, _ := lookAt(path) // lookAt must come before the file is read
			content, err := openNamedFile(files, path)
			switch {
			case err == nil:
				raw := sha256.New() // with the secrets
				attachment, _, err := imp.tx.StoreAttachment(ctx, filter, io.TeeReader(content, raw))
				if content.Close(); err != nil {
					return nil, false, err
				}
				digest, look.SHA256 = attachment.SHA256, hex.EncodeToString(raw.Sum(nil))
				added = append(added, attachment)
			case before[path] != "":
				digest, look.SHA256 = before[path], before[path]
			default:
				imp.result.Warnings = append(imp.result.Warnings, fmt.Errorf("%s: message %d: %w", in.path, i, err))
			}
			kept[path], imp.namedFiles[path] = digest, look
		}
		if digest != "" && digest != files.Digest(m.Message) {
			doc.Conversation[i] = domarkx.WrittenMessage{Message: files.WithDigest(m.Message, digest), Origin: m.Origin}
			changed = true
		}
	}
	return added, changed, nil
}

// attachmentsOf returns the digests of files that the messages of a snapshot record, by path.
func attachmentsOf(ctx context.Context, files *format.NamedFiles, base *view.View) (map[string]string, error) {
	digests := map[string]string{}
	if base == nil {
		return digests, nil
	}
	for k := range base.Live.Len() {
		m, err := base.Message(ctx, k)
		if err != nil {
			return nil, err
		}
		if digest := files.Digest(m); digest != "" {
			digests[files.Of(m)] = digest
		}
	}
	return digests, nil
}

// A namedFile reads a file up to the size that it had when it was opened, because another program may append to it.
type namedFile struct {
	io.Reader
	io.Closer
}

// openNamedFile opens a file that a message names. It returns an error if the file does not exist, cannot be read, or is not one
// that the message may name.
func openNamedFile(files *format.NamedFiles, path string) (namedFile, error) {
	refuse := func(err error) (namedFile, error) {
		return namedFile{}, fmt.Errorf("its file %q is not kept: %w", path, err)
	}
	if !filepath.IsAbs(path) {
		return refuse(fmt.Errorf("%w: its path is not absolute", domarkx.ErrInvalid))
	}
	if info, err := os.Stat(path); err != nil {
		return refuse(local.PathError(err))
	} else if !info.Mode().IsRegular() { // opening a FIFO would block until a writer opens it
		return refuse(fmt.Errorf("%w: it is no regular file", domarkx.ErrInvalid))
	} else if info.Size() == 0 { // files in proc(5) look empty, and some have no end
		return refuse(fmt.Errorf("%w: it is empty", domarkx.ErrInvalid))
	}
	f, err := os.Open(path)
	if err != nil {
		return refuse(local.PathError(err))
	}
	var head []byte
	info, err := f.Stat()
	if err == nil {
		head, err = io.ReadAll(io.LimitReader(f, format.HeadSize))
	}
	if err == nil && !files.Is(head) {
		err = fmt.Errorf("%w: a message of this kind may not name it", domarkx.ErrInvalid)
	}
	if err != nil {
		f.Close()
		return refuse(local.PathError(err))
	}
	rest := io.LimitReader(f, max(0, info.Size()-int64(len(head))))
	return namedFile{io.MultiReader(bytes.NewReader(head), rest), f}, nil
}

// lookAt returns the size and modification time of a file, and whether it is an existing regular file. settled reports
// whether each later change of the file would change the time.
func lookAt(path string) (look sources.File, there, settled bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return sources.File{}, false, false
	}
	return sources.File{Size: info.Size(), Time: info.ModTime().UnixNano()}, true, sources.IsSettled(info)
}

// withoutStaleDigest returns the record of a document without its digest if a file that the document names has changed,
// so that the document is imported again.
func withoutStaleDigest(src sources.Source, files *format.NamedFiles) sources.Source {
	for path, before := range src.Beside {
		look, there, settled := lookAt(path)
		if look.SHA256 = before.SHA256; !there || look == before && settled {
			continue
		}
		content, err := openNamedFile(files, path)
		if err != nil {
			continue
		}
		sum := sha256.New()
		_, err = io.Copy(sum, content)
		content.Close()
		if err != nil || hex.EncodeToString(sum.Sum(nil)) != before.SHA256 {
			src.Digest = ""
		}
	}
	return src
}
