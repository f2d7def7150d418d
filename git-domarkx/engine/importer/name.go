package importer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// nameWithoutSecrets returns the name for a new session. One that the document states is made of its title without secrets: in a name,
// which has other letters, no rule would recognise them.
func (imp *importer) nameWithoutSecrets(ctx context.Context, in input, h domarkx.Header) (string, error) {
	if in.codec.Identify == nil || h.UserMetadata == nil || in.name != in.codec.Identify(h).Name {
		return in.name, nil
	}
	clean, err := imp.tx.WithoutSecrets(ctx, *h.UserMetadata)
	if err != nil {
		return "", err
	}
	h.UserMetadata = &clean
	return in.codec.Identify(h).Name, nil
}

// place chooses the session for a document, and finds the snapshot of the document's last import.
func (imp *importer) place(ctx context.Context, in input, doc *domarkx.Document, known sources.Source) (name, base string, err error) {
	if known.Session != "" {
		return known.Session, known.Snapshot, nil
	}
	wanted, isGiven := in.name, in.as != "" && !in.isFork
	if !isGiven {
		if wanted, err = imp.nameWithoutSecrets(ctx, in, doc.Header); err != nil {
			return "", "", err
		}
		wanted = refname.Map(wanted)
	}
	for n := 1; ; n++ {
		name := imp.numbered(wanted, n)
		err := imp.tx.CheckName(ctx, name)
		if err == nil || !errors.Is(err, domarkx.ErrExists) {
			return name, "", err
		}
		if err := imp.hidden(ctx, name); err != nil {
			return "", "", err // the session that cannot be read may come from this document
		}
		tip, here := imp.here[name]
		if here && !imp.made[name] && !imp.fresh[tip.ID] {
			same, err := imp.sameSource(ctx, tip, in)
			if err != nil {
				return "", "", err
			}
			if same {
				base, err := imp.lastImport(ctx, tip.ID)
				return name, base, err
			}
			if n == 1 {
				base, err := imp.editions().Exported(ctx, in.Content, in.codec, doc.Header, tip)
				if err != nil || base != "" {
					return name, base, err
				}
			}
		}
		if isGiven && !here { // the name clashes with another one
			return "", "", fmt.Errorf("%w; give another name with --as", err)
		}
		if isGiven {
			return "", "", fmt.Errorf("%w; it came from another source, so give another name with --as, or remove it with git domarkx rm %s", err, refname.Argument(name))
		}
		if n > 1 {
			continue
		}
		free, err := imp.freeDirectory(ctx, wanted)
		if err != nil {
			return "", "", err
		}
		if free != wanted {
			wanted, n = free, 0
		}
	}
}

// sameSource reports whether a session and a document come from the same source, even in another clone: both are saves
// of the same session, or both come from the same file of the work tree. Other statements in the document do not count,
// because a session that is exported and imported under another name is another session.
func (imp *importer) sameSource(ctx context.Context, tip domarkx.Info, in input) (bool, error) {
	file, ok := imp.manager.inWorkTree(in)
	if in.identity == "" && !ok {
		return false, nil
	}
	if in.identity != "" {
		return imp.isIdentity(ctx, tip.ID, in)
	}
	h, err := view.Header(ctx, imp.manager.store, tip.ID)
	return err == nil && h.HasSourceFile && h.SourceFile == file, err
}

// lastImport returns the newest snapshot in a history that an import has created, or "".
func (imp *importer) lastImport(ctx context.Context, tip string) (string, error) {
	for info, err := range imp.manager.store.History(ctx, tip) {
		if err != nil {
			return "", err
		}
		if info.Operation == "import" {
			return info.ID, nil
		}
	}
	return "", nil
}

// freeDirectory changes the directories in a name so that a session can have it. It appends a number to each directory
// that is the name of a session, or that differs from another directory only by case.
func (imp *importer) freeDirectory(ctx context.Context, name string) (string, error) {
	components := strings.Split(name, "/")
	probe := domarkx.NewID(0, imp.change.Committer.When).String() // no session has a name in it
	for i := range components[:len(components)-1] {
		before := strings.Join(append(components[:i:i], ""), "/")
		for n, plain := 1, components[i]; ; n++ {
			components[i] = imp.numbered(plain, n)
			err := imp.tx.CheckName(ctx, before+components[i]+"/"+probe)
			if err == nil {
				break
			}
			if !errors.Is(err, domarkx.ErrExists) {
				return "", err
			}
		}
	}
	return strings.Join(components, "/"), nil
}

// numbered returns a name with the number n appended, shortened if it would be too long.
func (imp *importer) numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	for suffix := fmt.Sprintf("-%d", n); ; {
		if numbered := name + suffix; refname.Map(numbered) == numbered || name == "" {
			return numbered
		}
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
}

// nameSource records the source of a new session's Markdown document in its header.
func (imp *importer) nameSource(doc *domarkx.Document, in input) {
	if in.codec.Name != string(engine.Markdown) || in.path == "-" || doc.Header.HasSourceFile {
		return
	}
	edit.Complete(doc)
	edit.KeepPreamble(doc)
	doc.Header.SourceFile, doc.Header.HasSourceFile = imp.manager.sourceFile(in), true
}

// sourceFile returns a document's path in the work tree, which is the same in each clone. For a document outside of it,
// sourceFile returns only the file name, because directories of this machine are private.
func (m *Manager) sourceFile(in input) string {
	if file, ok := m.inWorkTree(in); ok {
		return file
	}
	return filepath.Base(in.path)
}

// inWorkTree returns a document's path in the work tree, and whether the document is there.
func (m *Manager) inWorkTree(in input) (string, bool) {
	if m.env.WorkTree == "" || in.path == "-" {
		return "", false
	}
	top, err := filepath.EvalSymlinks(m.env.WorkTree)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(top, in.key)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
