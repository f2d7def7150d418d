package engine

import (
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// A ProgramSession is the session of another program that a session was imported from.
type ProgramSession struct {
	Format    string // of the document; "" if the session was not imported from another program
	ID        string // the program's id of its session; "" if unknown
	Unchanged bool   // the session has not changed since the import
	Here      bool   // a document of the session was imported or exported on this machine
}

// ProgramSession returns the session of another program that a snapshot was imported from.
func (m *SessionManager) ProgramSession(ctx context.Context, info domarkx.Info) (ProgramSession, error) {
	known, err := sources.Open(m.env.StateDir)
	if err != nil {
		return ProgramSession{}, err
	}
	var p ProgramSession
	for _, source := range known.ByPath {
		p.Here = p.Here || source.Session == info.Name
	}
	headers, err := m.store.Header(ctx, info.ID)
	if err != nil || len(headers) != 1 || headers[0].Origin == "" {
		return p, err
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
