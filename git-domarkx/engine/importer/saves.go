package importer

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A save is a document that may be one of several saves of a session. The session is recorded by the identity that the
// document states. The file is also recorded by its path, so that an unchanged file is not read again.
type save struct {
	known   sources.Source // record of the session; that of the file if the document states no identity
	digest  string
	at      int64          // time of the save in milliseconds since 1970; 0 if unknown
	within  int64          // the same time, as the document states it
	pathKey string         // key of the file; "" if the document states no identity
	path    sources.Source // record of the file
}

// isPart reports whether the session was last imported from another file: then neither needs to have all of it. A save
// that states its time has all of the session at that time.
func (s *save) isPart() bool {
	return s.at == 0 && s.pathKey != "" && s.known.Session != "" && s.path.Snapshot != s.known.Snapshot
}

// saveOf returns which save a document is. It sets the identity and the name of the input to those that the document
// states. waits reports whether the document must be imported after its parent, which may be one of the other documents. Its
// errors are those of [importer.known].
func (imp *importer) saveOf(ctx context.Context, in *input, doc *domarkx.Document, known sources.Source, digest string) (s save, waits bool, err error) {
	s = save{known: known, digest: digest}
	if in.codec.Identify == nil {
		return s, false, nil
	}
	id := in.codec.Identify(doc.Header)
	if in.as == "" && id.Name != "" && !in.isFork {
		in.name = id.Name
	}
	if id.ID == "" {
		return s, false, nil
	}
	s.pathKey, s.path = imp.key(*in), known
	in.identity, in.key = id.ID, in.codec.Name+":"+id.ID
	if in.as == "" && id.Parent != "" && !in.isFork {
		parent := imp.sources.Get(in.codec.Name + ":" + id.Parent).Session
		_, isHere := imp.here[imp.sources.Get(in.key).Session]
		if _, ok := imp.here[parent]; ok {
			in.name = parent + id.Suffix
		} else if !in.late && !isHere {
			return s, true, nil
		}
	}
	if s.known, _, err = imp.known(ctx, *in); err != nil {
		return s, false, err
	}
	if s.known.Session == "" && known.Session != "" && !imp.fresh[known.Snapshot] { // it was imported under a name that the user gave
		if same, err := imp.isIdentity(ctx, known.Snapshot, *in); err != nil {
			return s, false, err
		} else if same {
			s.known = known
		}
	}
	s.at, s.within = id.Saved, id.Saved
	if in.codec.SavedAt != nil {
		if saved, ok := in.codec.SavedAt(nil, in.path); ok {
			s.at = saved.At
		}
	}
	return s, false, nil
}

// isIdentity reports whether a snapshot belongs to the session whose identity a document states.
func (imp *importer) isIdentity(ctx context.Context, snapshot string, in input) (bool, error) {
	h, err := view.Header(ctx, imp.manager.store, snapshot)
	return err == nil && in.codec.Identify(h).ID == in.identity, err
}

// isOld reports whether a session already has a document or a later save. If so, it makes sure that the file is
// recorded, so that it is not read again.
func (imp *importer) isOld(ctx context.Context, r recognised) (bool, error) {
	in, s := r.in, r.record
	now := sources.Source{Session: r.name, Snapshot: r.base, Digest: s.digest, Saved: s.at}
	if s.known.Session == "" { // the session was found by its name
		same, err := imp.editions().IsOriginal(ctx, in.Content, in.codec, r.base)
		if err != nil {
			return false, err
		}
		if same && imp.links == nil {
			imp.learned = append(imp.learned, func() { imp.remember(in, s, now) })
			return true, nil
		}
	}
	if in.identity == "" {
		return false, nil
	}
	before, at := s.known.Saved, s.at
	if s.known.Session == "" {
		h, err := view.Header(ctx, imp.manager.store, r.base)
		if err != nil {
			return false, err
		}
		before, at = in.codec.Identify(h).Saved, s.within
	}
	same := s.known.Digest == s.digest
	if !same && (at == 0 || before == 0 || at >= before) {
		return false, nil
	}
	if !same {
		imp.result.Warnings = append(imp.result.Warnings,
			fmt.Errorf("%s: older than the version that session %q was last imported from; nothing was changed", in.path, r.name))
	}
	imp.learned = append(imp.learned, func() { imp.sources.Set(s.pathKey, now, s.path) })
	return true, nil
}

// remember records to which session a document was imported.
func (imp *importer) remember(in input, s save, now sources.Source) {
	if in.codec.Images && in.codec.NamedFiles == nil {
		now.Stamp, now.Format = in.stamp, in.codec.Name
	}
	now.Beside = imp.namedFiles
	imp.sources.Set(imp.key(in), now, s.known)
	if s.pathKey != "" {
		imp.sources.Set(s.pathKey, now, s.path)
	}
}
