// Package origin says from which sessions of other programs the sessions of a repository are.
package origin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// A Session is the session of another program that a session was imported from.
type Session struct {
	Format    string // name of the document's format; "" if the session was not imported from another program
	ID        string // the program's id of its session; "" if unknown
	Unchanged bool   // the session has not changed since the import
	Here      bool   // a document of the session was imported or exported on this machine
}

// A Reader reads a repository.
type Reader struct {
	Sessions *engine.SessionManager
	Store    *gitstore.Store
}

// Same returns the id of a program's session that has exactly the messages of a snapshot, as far
// as this machine imported or exported its document; "" if there is none.
func (r Reader) Same(codec string, info domarkx.Info) (string, error) {
	known := sources.Open(r.Store.StateDir())
	of, err := known.OfSession(info.Name)
	if err != nil {
		return "", err
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		identity, ok := strings.CutPrefix(sources.DocumentKey(key), codec+":")
		if !ok || of[key].Snapshot != info.ID {
			continue
		}
		var parts []string // the session, the sub-agent and the branch
		if json.Unmarshal([]byte(identity), &parts) == nil && len(parts) == 3 && parts[1] == "" && parts[2] == "" {
			return parts[0], nil
		}
	}
	return "", nil
}

// withoutOriginal fills in a Session from a header, for sessions that were read from a
// program's database and have no original document.
func (r Reader) withoutOriginal(ctx context.Context, p Session, info domarkx.Info, of map[string]sources.Source) (Session, error) {
	h, err := view.Header(ctx, r.Store, info.ID)
	if err != nil {
		return p, err
	}
	for _, codec := range r.Sessions.Codecs() {
		if codec.Identify == nil || codec.IsPart == nil || codec.IsPart(h) {
			continue
		}
		if id := codec.Identify(h); id.SessionID != "" {
			p.Format, p.ID = codec.Name, id.SessionID
			for key, source := range of {
				p.Unchanged = p.Unchanged || source.Snapshot == info.ID && sources.DocumentKey(key) == codec.Name+":"+id.ID
			}
			break
		}
	}
	return p, nil
}

// Of returns the session of another program that a snapshot was imported from.
func (r Reader) Of(ctx context.Context, info domarkx.Info) (Session, error) {
	known := sources.Open(r.Store.StateDir())
	of, err := known.OfSession(info.Name)
	if err != nil {
		return Session{}, err
	}
	p := Session{Here: len(of) > 0}
	headers, err := r.Store.Header(ctx, info.ID)
	if err != nil || len(headers) != 1 {
		return p, err
	}
	if headers[0].Origin == "" {
		return r.withoutOriginal(ctx, p, info, of)
	}
	origin, err := r.Store.Origin(ctx, headers[0].Origin)
	if err != nil {
		return p, err
	}
	codec, ok := format.ByName(r.Sessions.Codecs(), origin.Format)
	if !ok || engine.IsForm(origin.Format) {
		return p, nil
	}
	p.Format = origin.Format
	h, err := view.Header(ctx, r.Store, info.ID)
	if err != nil {
		return p, err
	}
	if codec.Identify != nil {
		p.ID = codec.Identify(h).SessionID
	}
	original, err := r.Sessions.Original(ctx, info, codec)
	p.Unchanged = original != nil
	return p, err
}
