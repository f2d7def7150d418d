package snapshot

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A CommitHead is a snapshot or a workspace version, without its content.
type CommitHead struct {
	Info              domarkx.Info    // of a snapshot
	Version           domarkx.Version // of a workspace version, without its resources
	IsVersion         bool
	Parents           []string
	Author, Committer domarkx.Signature
}

// Head reads the commit of a snapshot or of a workspace version.
func (r Reader) Head(_ context.Context, id string) (CommitHead, error) {
	oid, err := odb.ParseID(id)
	if err != nil {
		return CommitHead{}, err
	}
	c, err := r.commit(oid)
	if err != nil {
		return CommitHead{}, err
	}
	head := CommitHead{Parents: idStrings(c.Parents), Author: c.Author, Committer: c.Committer}
	if head.Info, err = codec.DecodeMessage(c.Message); err == nil {
		head.Info.ID, head.Info.Date = id, c.Committer.When.Unix()
		return head, nil
	}
	_, v, _, e := r.version(oid)
	if e != nil {
		return CommitHead{}, fmt.Errorf("commit %s: %w", id, err)
	}
	head.Version, head.IsVersion = v, true
	return head, nil
}
