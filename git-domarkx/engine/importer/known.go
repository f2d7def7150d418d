package importer

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// infos returns the newest snapshots of the sessions, and the errors of the sessions that cannot be read, both by name.
func (m *Manager) infos(ctx context.Context) (byName map[string]domarkx.Info, hidden []error, err error) {
	list, err := m.store.List(ctx)
	if list == nil && err != nil || ctx.Err() != nil {
		return nil, nil, errors.Join(err, ctx.Err())
	}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		hidden = several.Unwrap()
	} else if err != nil {
		hidden = []error{err}
	}
	byName = make(map[string]domarkx.Info, len(list))
	for _, info := range list {
		byName[info.Name] = info
	}
	return byName, hidden, nil
}

// hidden returns a *documentError if a session with that name exists and cannot be read: the document belongs to it, or may
// belong to it.
func (imp *importer) hidden(ctx context.Context, name string) error {
	if _, ok := imp.here[name]; ok {
		return nil
	}
	_, err := imp.tx.Tip(ctx, name)
	if err == nil || errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	return &documentError{err}
}

// key returns the key of a document in the record of imports. It contains the session name that the user gave, since
// one file can be imported as several sessions.
func (imp *importer) key(in input) string {
	if in.as != "" && (in.path != "-" || in.identity != "") && imp.sources.Get(in.key).Session != in.as {
		return in.key + "\n" + in.as
	}
	return in.key
}

// known returns the record of a document, if its session still exists and contains the recorded snapshot. If the session
// does not contain it, another session may have the name now. known returns a *documentError if the session cannot be read.
func (imp *importer) known(ctx context.Context, in input) (sources.Source, bool, error) {
	entry := imp.sources.Get(imp.key(in))
	if entry.Session == "" {
		return sources.Source{}, false, nil
	}
	for src := &entry; src != nil; src = src.Before {
		if err := imp.hidden(ctx, src.Session); err != nil {
			return sources.Source{}, false, err
		}
		if imp.inHistory(ctx, *src) {
			return withoutStaleDigest(*src, in.codec.NamedFiles), true, nil
		}
	}
	return sources.Source{}, false, nil
}

// inHistory reports whether a session's history contains the snapshot in its record.
func (imp *importer) inHistory(ctx context.Context, src sources.Source) bool {
	tip, ok := imp.here[src.Session]
	if !ok || tip.ID == src.Snapshot || imp.fresh[src.Snapshot] {
		return ok
	}
	readable := imp.readableTip(src.Session)
	if readable == "" {
		return false
	}
	found, err := imp.manager.store.IsAncestor(ctx, src.Snapshot, readable)
	return err == nil && found
}

// isAsRecorded reports whether a document has the stamp of its last import. It need not be read then. format is the name of its
// format that the user gave, or "".
func (f found) isAsRecorded(src sources.Source, format string) bool {
	return f.stamp != "" && f.stamp == src.Stamp && (format == "" || format == src.Format)
}

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
