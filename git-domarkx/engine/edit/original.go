package edit

import (
	"context"
	"iter"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/original"
)

// An Original stores a document together with its messages.
type Original struct {
	Writer *original.Writer
	Placed format.Placed
	Verify func() error // returns an error unless the stored bytes are those that were read before
}

// Finish stores the rest of the document and returns its tree.
func (o *Original) Finish(ctx context.Context) (string, error) {
	tree, err := o.Writer.Finish(ctx)
	if err == nil {
		err = o.Verify()
	}
	return tree, err
}

// Along returns the messages of live and stores the document up to the end of each message before it yields the message.
func (o *Original) Along(ctx context.Context, live iter.Seq2[domarkx.Revised, error]) iter.Seq2[domarkx.Revised, error] {
	return func(yield func(domarkx.Revised, error) bool) {
		k := 0
		for m, err := range live {
			if err == nil {
				err = o.Writer.Through(ctx, o.Placed.End(k))
			}
			if !yield(m, err) || err != nil {
				return
			}
			k++
		}
	}
}

// OriginID derives the id of a message from its name in the original document.
func OriginID(clock uint32, after domarkx.ID, origin string) domarkx.ID {
	return domarkx.DeriveID(clock, []byte("origin"), after[:], []byte(origin))
}
