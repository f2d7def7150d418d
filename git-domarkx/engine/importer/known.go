package importer

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
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

// known returns the record of a document, if its session still exists and contains the recorded snapshot. If the
// session does not contain it, another session may have the name now. known returns a *documentError if the session
// cannot be read.
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
