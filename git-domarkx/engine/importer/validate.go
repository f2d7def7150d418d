package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// Validate decodes documents, and calls bad for each problem: also for problems despite which an import would import a
// document, and for resources that their plugins would reject. It returns the number of documents.
func (m *Manager) Validate(ctx context.Context, paths []string, stdin io.Reader, bad func(error)) (documents int, err error) {
	c := m.collector(Request{Paths: paths, Stdin: stdin})
	defer func() { err = errors.Join(err, c.close()) }()
	all, err := c.find(ctx, bad)
	if err != nil {
		return 0, err
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		in, err := c.open(ctx, f)
		if unreadable, ok := errors.AsType[*documentError](err); ok {
			bad(unreadable.error)
			continue
		}
		if err != nil {
			return 0, err
		}
		err = m.validate(ctx, in, bad)
		in.Close()
		if err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

func (m *Manager) validate(ctx context.Context, in input, bad func(error)) error {
	dir := document.Directory{Path: filepath.Dir(in.path), Digest: sha256.New()}
	defer dir.Close()
	for _, report := range in.damage {
		bad(report)
	}
	for conv, err := range in.Conversations(in.codec, in.path, dir.Include) {
		if err == nil {
			err = in.check(conv, true)
		}
		if err != nil {
			bad(err)
			return nil
		}
		for _, report := range conv.Doc.Damage {
			bad(report)
		}
		if err := m.checkDocument(ctx, conv.Doc.Header); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			bad(in.locate(err))
		}
		return nil // the damage in the document is reported once
	}
	return nil
}

// checkDocument validates the resources in a document, with the defaults in .domarkx.toml, against the schemas of their
// plugins. An error in the document is a *syntax.Error without a path.
func (m *Manager) checkDocument(ctx context.Context, h domarkx.Header) error {
	a, err := trust.ResourcesInDocument(h)
	if err != nil || len(a.Specs) == 0 {
		return err
	}
	if a.Shared, err = project.Read(m.env.WorkTree); err != nil {
		return err
	}
	a.Complete()
	return a.At("", m.env.Workspaces.Check(ctx, a.Specs))
}

// locate adds the line in the document to an error in its execution_config.
func (in *input) locate(err error) error {
	var at *syntax.Error
	if !errors.As(err, &at) || at.Path != "" {
		return err
	}
	e := *at
	e.Path = in.path
	switch in.codec.Name {
	case string(engine.Markdown):
		found, err := markdown.Check(format.File{Path: in.path, Content: in.ReaderAt, Size: in.Size}, domarkx.NewHeader(), 0)
		if err != nil {
			return err
		}
		return found.Locate(at)
	case string(engine.JSON):
		data, err := in.Data(in.Size)
		if err != nil {
			return err
		}
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		if v, err := jsonvalue.ParseValue(data); err == nil {
			e.Line, e.Column = syntax.Position(data, v.Nearest(e.Pointer).Offset())
		}
	}
	return &e
}

// check returns an error for an input that only resembles a Markdown session, unless the user named the format. It adds
// problems in blocks to the damage. If the document belongs to an existing session, a heading in another dialect is
// content and no problem.
func (in *input) check(conv document.Conversation, isNew bool) error {
	if in.codec.Name != string(engine.Markdown) {
		return nil
	}
	n := len(conv.Doc.Conversation)
	if conv.Messages != nil {
		n = conv.Messages.Len()
	}
	found, err := markdown.Check(format.File{Path: in.path, Content: in.ReaderAt, Size: in.Size}, conv.Doc.Header, n)
	if err != nil {
		return err
	}
	conv.Doc.Damage = append(conv.Doc.Damage, found.Blocks...)
	switch {
	case in.insists:
	case found.Alien != nil:
		return found.Alien
	case isNew && found.Dialect != nil:
		return found.Dialect
	}
	return nil
}
