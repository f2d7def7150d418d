package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// An AttachedFile is a file that an import attached to a session.
type AttachedFile struct {
	Session string
	domarkx.AttachedFile
}

// A fileSet contains the files that are imported with a document: its images, and the files that the user attached.
type fileSet struct {
	dir      *document.Directory
	files    []domarkx.AttachedFile
	size     int
	seen     map[string]bool
	warnings []error
	refused  map[string]*Repeated // the images that are not attached, by reason
}

// maxReasons is the maximum number of reasons why images of a document are not attached that are reported.
const maxReasons = 10

// A Repeated is a warning about the first of several things for which the same holds.
type Repeated struct {
	error
	Count int
}

// Unwrap returns the warning.
func (r *Repeated) Unwrap() error { return r.error }

// Limits of the files that are imported with a document: bytes in total, and number of files.
const (
	maxFilesSize  = 100 << 20
	maxFilesCount = 10_000
)

// filesOf finds the files to import with a document, and adds them to its digest. It returns nil if there are none.
func (imp *importer) filesOf(ctx context.Context, d *reader, conv document.Conversation) (*fileSet, error) {
	in := d.in
	images, err := imp.imagesOf(in, conv)
	if err != nil || len(images) == 0 && len(imp.Attach) == 0 {
		return nil, err
	}
	s := &fileSet{dir: &d.dir, seen: map[string]bool{}, refused: map[string]*Repeated{}}
	for _, path := range imp.Attach {
		if err := s.attach(path); err != nil {
			return nil, fmt.Errorf("attaching %q: %w", path, err)
		}
	}
	return s, imp.addImages(ctx, s, in.path, images)
}

// imagesOf returns the destinations of the images in a document. The document must be one that the user named.
func (imp *importer) imagesOf(in input, conv document.Conversation) ([]string, error) {
	if shows, err := in.showsImages(); err != nil || !shows {
		return nil, err
	}
	preamble := conv.Doc.Preamble.Bytes
	if !conv.Doc.Preamble.Verbatim {
		preamble = markdown.RenderHeader(conv.Doc.Header)
	}
	images := markdown.Images(string(preamble))
	e := edit.Edit{Doc: conv.Doc, Messages: conv.Messages}
	for k := range e.Len() {
		msg, err := e.At(k)
		if err != nil {
			return nil, err
		}
		for _, block := range msg.Content {
			if block.Type == domarkx.TextBlock {
				images = append(images, markdown.Images(block.Text)...)
			}
		}
	}
	return images, nil
}

// showsImages reports whether a document may contain images to import: the user named it, it is Markdown or JSON, and
// it contains "![".
func (in *input) showsImages() (bool, error) {
	if !in.named || in.path == "-" || in.codec.Name != string(engine.Markdown) && in.codec.Name != string(engine.JSON) {
		return false, nil
	}
	return in.Contains("![")
}

// attach adds a file that the user named.
func (s *fileSet) attach(path string) error {
	base, err := filepath.Abs(s.dir.Path)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(base, file)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(rel) || rel == "." {
		return fmt.Errorf("%w: it is not in the document's directory, %q; copy it there first", domarkx.ErrInvalid, s.dir.Path)
	}
	return s.add(filepath.ToSlash(rel), func([]byte) bool { return true })
}

// addImages adds the images that are local files and may be imported, and warnings about the others in a document.
func (imp *importer) addImages(ctx context.Context, s *fileSet, document string, destinations []string) error {
	var names, paths []string
	listed := map[string]bool{}
	for _, destination := range destinations {
		name, err := markdown.ImagePath(destination)
		if listed[destination] || listed[name] {
			continue
		}
		listed[destination] = true
		if err != nil {
			s.refuse(document, destination, err)
		} else if name != "" {
			listed[name] = true
			names, paths = append(names, name), append(paths, filepath.Join(s.dir.Path, filepath.FromSlash(name)))
		}
	}
	ignored, err := imp.manager.ignored(ctx, paths)
	if err != nil {
		return err
	}
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ignored[i] {
			s.refuse(document, name, fmt.Errorf("%w: Git ignores it", domarkx.ErrInvalid))
			continue
		}
		if err := s.add(name, engine.IsImage); err != nil {
			s.refuse(document, name, err)
		}
	}
	return nil
}

// refuse adds the warning that an image of a document is not attached, one for each reason.
func (s *fileSet) refuse(document, name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such file")
	}
	reason, warning := strings.ReplaceAll(err.Error(), name, ""), fmt.Errorf("%s: image %q is not attached: %w", document, name, err)
	switch {
	case s.refused[reason] != nil:
	case len(s.refused) < maxReasons:
		s.refused[reason] = &Repeated{error: warning}
		s.warnings = append(s.warnings, s.refused[reason])
	default:
		reason = ""
		if s.refused[reason] == nil {
			s.refused[reason] = &Repeated{error: fmt.Errorf("%s: images are not attached for other reasons", document)}
			s.warnings = append(s.warnings, s.refused[reason])
		}
	}
	s.refused[reason].Count++
}

// add adds a file if it is of the wanted kind.
func (s *fileSet) add(name string, isWanted func(content []byte) bool) error {
	if s.seen[name] {
		return nil
	}
	if len(s.files) == maxFilesCount {
		return fmt.Errorf("%w: at most %d files can be imported with a document", domarkx.ErrInvalid, maxFilesCount)
	}
	content, err := s.dir.File(name, engine.MaxFileSize)
	if err != nil {
		return err
	}
	if !isWanted(content) {
		return fmt.Errorf("%w: it is not a PNG, JPEG, GIF, WebP or AVIF image; --attach takes other files", domarkx.ErrInvalid)
	}
	kept, err := s.dir.Redact(content)
	if err != nil {
		return err
	}
	raw, sum := sha256.Sum256(content), sha256.Sum256(kept)
	if s.size+len(content) > maxFilesSize {
		return fmt.Errorf("%w: the files that are imported with a document can have at most %d MiB together", domarkx.ErrInvalid, maxFilesSize>>20)
	}
	s.size += len(content)
	s.seen[name] = true
	file := domarkx.AttachedFile{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(kept))}
	s.files = append(s.files, file)
	fmt.Fprintf(s.dir.Digest, "\x00file\x00%s\x00%x\x00", file.Path, raw)
	return nil
}

// store adds the files that the snapshot does not have.
func (s *fileSet) store(to *attachmentSet) error {
	for _, f := range s.files {
		if to.has[f.Path] == f.SHA256 {
			continue
		}
		content, err := s.dir.File(f.Path, engine.MaxFileSize)
		if err == nil {
			err = to.store(f.Path, content)
		}
		if err == nil && to.has[f.Path] != f.SHA256 {
			err = document.ErrChanged
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(s.dir.Path, filepath.FromSlash(f.Path)), err)
		}
	}
	return nil
}

// An attachmentSet stores the files that a snapshot does not have.
type attachmentSet struct {
	tx       *transaction.Tx
	ctx      context.Context
	filter   transaction.Filter
	has      map[string]string // path → SHA-256 of those that the snapshot has, and of those that were stored
	files    []domarkx.AttachedFile
	contents []domarkx.Attachment
}

// newAttachments returns an empty set. base is the snapshot, or "" for none.
func (imp *importer) newAttachments(ctx context.Context, filter transaction.Filter, base string) (*attachmentSet, error) {
	s := &attachmentSet{tx: imp.tx, ctx: ctx, filter: filter, has: map[string]string{}}
	if base == "" || imp.fresh[base] { // a snapshot of this update cannot be read; storing its files again takes no space
		return s, nil
	}
	before, err := imp.tx.Files(ctx, base)
	for _, f := range before {
		s.has[f.Path] = f.SHA256
	}
	return s, err
}

// attachments stores the files of a document, and the images of a transcript.
func (imp *importer) attachments(ctx context.Context, r recognised) (*attachmentSet, error) {
	named := imp.files != nil && !r.in.isFork
	if !named && !r.in.HasImages {
		return &attachmentSet{}, nil
	}
	s, err := imp.newAttachments(ctx, r.filter, r.base)
	if err == nil && named {
		err = imp.files.store(s)
	}
	if err == nil && r.in.HasImages {
		err = document.EachImage(r.conv.Messages, s.keep)
	}
	return s, err
}

// keep stores an image, whose path says what it contains.
func (s *attachmentSet) keep(path string, content []byte) error {
	if s.has[path] != "" || len(s.files) == maxFilesCount {
		return nil
	}
	return s.store(path, content)
}

func (s *attachmentSet) store(path string, content []byte) error {
	a, size, err := s.tx.StoreAttachment(s.ctx, s.filter, bytes.NewReader(content))
	s.files = append(s.files, domarkx.AttachedFile{Path: path, SHA256: a.SHA256, Size: size})
	s.has[path], s.contents = a.SHA256, append(s.contents, a)
	return err
}
