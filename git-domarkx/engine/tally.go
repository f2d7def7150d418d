package engine

import (
	"context"
	"iter"

	"github.com/domarkx/domarkx"
)

// A tally finds out, of messages that go by, what a commit says of them all. It holds a
// few of them at once.
type tally struct {
	ctx     context.Context
	blobs   Blobs
	headers []domarkx.HeaderEntry

	preview string
	bytes   int64 // of the document as far as it was measured
	count   int

	measured []domarkx.Entry // the last of those that were measured, on which what follows depends
	waiting  []domarkx.Entry // to be measured
	held     int64           // bytes of content of those
	within   int             // how many that follow are still within the bytes of one of those

	keeps bool             // the messages are kept, for they are few
	room  int64            // bytes that they may have; negative for any number
	kept  []*domarkx.Entry // with their ids when they are stored
}

// How many messages are measured at once, and how many bytes of their content, unless they
// cannot be measured apart.
const (
	maxWaiting      = 512
	maxWaitingBytes = 2 << 20
)

// maxKept is how many bytes of content a state has at most that is kept for a document
// that continues it.
const maxKept = 8 << 20

// through returns the messages, and takes each when it is asked for.
func (t *tally) through(live iter.Seq2[domarkx.Entry, error]) iter.Seq2[*domarkx.Entry, error] {
	return func(yield func(*domarkx.Entry, error) bool) {
		for entry, err := range live {
			if err == nil {
				err = t.add(&entry)
			}
			if !yield(&entry, err) || err != nil {
				return
			}
		}
	}
}

func (t *tally) add(entry *domarkx.Entry) error {
	if t.count++; t.count == 1 {
		first, err := loadMessage(t.ctx, t.blobs, *entry)
		if err != nil {
			return err
		}
		t.preview = preview(first)
	}
	size := int64(len(entry.JSON.Data) + len(entry.Source.Data))
	t.keep(entry, size)
	t.waiting, t.held = append(t.waiting, *entry), t.held+size
	t.within = max(t.within-1, entry.Layout.Span)
	apart := t.within == 0 && t.headers[0].Includes == "" // else reading the included files would be repeated
	if apart && (len(t.waiting) >= maxWaiting || t.held >= maxWaitingBytes) {
		return t.measure()
	}
	return nil
}

func (t *tally) keep(entry *domarkx.Entry, size int64) {
	const record = 400 // bytes, about, that an entry takes without its content
	if t.keeps && t.room >= 0 {
		t.room -= size + record
		t.keeps = t.room >= 0
	}
	if t.kept = append(t.kept, entry); !t.keeps {
		t.kept = nil
	}
}

// measure adds the size of the messages that wait: by how much the document is longer with
// them. What is shown of a message can depend on the one before it.
func (t *tally) measure() error {
	if t.count > len(t.waiting) {
		n, err := t.sizeOf(t.measured)
		if err != nil {
			return err
		}
		t.bytes -= n
	}
	shown := append(t.measured, t.waiting...)
	n, err := t.sizeOf(shown)
	if err != nil {
		return err
	}
	t.bytes += n
	last := len(shown) - 1
	if last >= 0 {
		from := max(0, last-1-shown[last].Layout.Within) // one more, to see a conflict
		t.measured = append([]domarkx.Entry(nil), shown[from:]...)
	}
	t.waiting, t.held = t.waiting[:0], 0
	return nil
}

func (t *tally) sizeOf(live []domarkx.Entry) (int64, error) {
	v, err := newView(t.ctx, t.blobs, &domarkx.State{Headers: t.headers, Thread: domarkx.Thread{Live: live}})
	if err != nil {
		return 0, err
	}
	return v.size(), nil
}

// size returns the size in bytes of the whole document as Markdown, when all messages went
// by.
func (t *tally) size() (int64, error) {
	if len(t.waiting) > 0 || t.count == 0 {
		if err := t.measure(); err != nil {
			return 0, err
		}
	}
	return t.bytes, nil
}
