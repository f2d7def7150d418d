package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A ProgramSession is the session of another program that a session was imported from.
type ProgramSession struct {
	Format    string // name of the document's format; "" if the session was not imported from another program
	ID        string // the program's id of its session; "" if unknown
	Unchanged bool   // the session has not changed since the import
	Here      bool   // a document of the session was imported or exported on this machine
}

// SessionOf returns the id of a program's session that has exactly the messages of a snapshot, as far
// as this machine imported or exported its document; "" if there is none.
func (m *SessionManager) SessionOf(codec string, info domarkx.Info) (string, error) {
	known, err := sources.Open(m.env.StateDir)
	if err != nil {
		return "", err
	}
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

// withoutOriginal fills in a ProgramSession from a header, for sessions that were read from a
// program's database and have no original document.
func (m *SessionManager) withoutOriginal(ctx context.Context, p ProgramSession, info domarkx.Info, of map[string]sources.Source) (ProgramSession, error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return p, err
	}
	for _, codec := range m.codecs {
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

// ProgramSession returns the session of another program that a snapshot was imported from.
func (m *SessionManager) ProgramSession(ctx context.Context, info domarkx.Info) (ProgramSession, error) {
	known, err := sources.Open(m.env.StateDir)
	if err != nil {
		return ProgramSession{}, err
	}
	of, err := known.OfSession(info.Name)
	if err != nil {
		return ProgramSession{}, err
	}
	p := ProgramSession{Here: len(of) > 0}
	headers, err := m.store.Header(ctx, info.ID)
	if err != nil || len(headers) != 1 {
		return p, err
	}
	if headers[0].Origin == "" {
		return m.withoutOriginal(ctx, p, info, of)
	}
	origin, err := m.store.Origin(ctx, headers[0].Origin)
	if err != nil {
		return p, err
	}
	codec, ok := format.ByName(m.codecs, origin.Format)
	if !ok || IsForm(origin.Format) {
		return p, nil
	}
	p.Format = origin.Format
	s, err := m.stream(ctx, info)
	if err != nil {
		return p, err
	}
	if codec.Identify != nil {
		p.ID = codec.Identify(s.Header).SessionID
	}
	original, err := m.Original(ctx, info, codec)
	p.Unchanged = original != nil
	return p, err
}
