package importer

import (
	"bytes"
	"context"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// attachPictures stores the images of a transcript that the snapshot base does not have, and returns them.
func (imp *importer) attachPictures(ctx context.Context, in input, messages format.Messages, filter transaction.Filter, base string) ([]domarkx.AttachedFile, []domarkx.Attachment, error) {
	if !in.HasImages {
		return nil, nil, nil
	}
	kept, err := imp.newPictures(ctx, filter, base)
	if err != nil {
		return nil, nil, err
	}
	return kept.files, kept.contents, document.EachImage(messages, kept.keep)
}

// A pictureSet collects the images that a snapshot does not have.
type pictureSet struct {
	tx       *transaction.Tx
	ctx      context.Context
	filter   transaction.Filter
	seen     map[string]bool
	files    []domarkx.AttachedFile
	contents []domarkx.Attachment
}

// newPictures returns an empty set. base is the snapshot whose images are not collected, or "" for none.
func (imp *importer) newPictures(ctx context.Context, filter transaction.Filter, base string) (*pictureSet, error) {
	s := &pictureSet{tx: imp.tx, ctx: ctx, filter: filter, seen: map[string]bool{}}
	if base == "" || imp.fresh[base] { // a snapshot of this update cannot be read; storing its files again takes no space
		return s, nil
	}
	before, err := imp.tx.Files(ctx, base)
	for _, f := range before {
		s.seen[f.Path] = true
	}
	return s, err
}

func (s *pictureSet) keep(path string, content []byte) error {
	if s.seen[path] || len(s.files) == maxFilesCount {
		return nil
	}
	s.seen[path] = true
	a, size, err := s.tx.StoreAttachment(s.ctx, s.filter, bytes.NewReader(content))
	s.files = append(s.files, domarkx.AttachedFile{Path: path, SHA256: a.SHA256, Size: size})
	s.contents = append(s.contents, a)
	return err
}
