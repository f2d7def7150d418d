package view

import (
	"context"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Stats computes the data that a commit records about its messages while they pass through it. It
// holds only a few messages in memory.
type Stats struct {
	Ctx     context.Context
	Blobs   Blobs
	Headers []domarkx.HeaderEntry

	Preview string
	bytes   int64 // size of the document in bytes, as far as it was measured
	count   int

	measured []domarkx.Entry // the last measured messages, on which the size of the next ones depends
	waiting  []domarkx.Entry // messages that are not measured yet
	held     int64           // size of the content in waiting, in bytes
	within   int             // number of next messages whose bytes a waiting message contains

	Keeps bool             // whether to keep the messages, because they are small
	Room  int64            // remaining bytes for kept messages; negative means no limit
	Kept  []*domarkx.Entry // the kept messages, with their ids after they are stored
}

// The number of messages that are measured together, and the bytes of their content. Messages
// that cannot be measured separately may exceed both.
const (
	maxWaiting      = 512
	maxWaitingBytes = 2 << 20
)

// MaxKept is the maximum content in bytes of a state that is kept for a later document that continues it.
const MaxKept = 8 << 20

// Through returns the messages of live and adds each to the tally when it is yielded.
func (t *Stats) Through(live iter.Seq2[domarkx.Revised, error]) iter.Seq2[*domarkx.Revised, error] {
	return func(yield func(*domarkx.Revised, error) bool) {
		for m, err := range live {
			if err == nil {
				err = t.add(&m.Entry)
			}
			if !yield(&m, err) || err != nil {
				return
			}
		}
	}
}

func (t *Stats) add(entry *domarkx.Entry) error {
	if t.count++; t.count == 1 {
		first, err := LoadMessage(t.Ctx, t.Blobs, *entry)
		if err != nil {
			return err
		}
		t.Preview = Preview(first)
	}
	size := int64(len(entry.JSON.Data) + len(entry.Source.Data))
	t.keep(entry, size)
	t.waiting, t.held = append(t.waiting, *entry), t.held+size
	t.within = max(t.within-1, entry.Layout.Span)
	apart := t.within == 0 && t.Headers[0].Includes == "" // included files would be read again for every batch
	if apart && (len(t.waiting) >= maxWaiting || t.held >= maxWaitingBytes) {
		return t.measure()
	}
	return nil
}

func (t *Stats) keep(entry *domarkx.Entry, size int64) {
	const record = 400 // approximate bytes of an entry without its content
	if t.Keeps && t.Room >= 0 {
		t.Room -= size + record
		t.Keeps = t.Room >= 0
	}
	if t.Kept = append(t.Kept, entry); !t.Keeps {
		t.Kept = nil
	}
}

// measure adds to the size of the document the difference that the waiting messages make. The form
// of a message can depend on the previous one.
func (t *Stats) measure() error {
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
		from := max(0, last-1-shown[last].Layout.Within) // one more message, to detect a conflict
		t.measured = append([]domarkx.Entry(nil), shown[from:]...)
	}
	t.waiting, t.held = t.waiting[:0], 0
	return nil
}

func (t *Stats) sizeOf(live []domarkx.Entry) (int64, error) {
	v, err := New(t.Ctx, t.Blobs, &domarkx.State{Headers: t.Headers, Thread: domarkx.Thread{Live: live}})
	if err != nil {
		return 0, err
	}
	return v.Size(), nil
}

// Size returns the size in bytes of the whole document as Markdown. Call it after all messages have passed through.
func (t *Stats) Size() (int64, error) {
	if len(t.waiting) > 0 || t.count == 0 {
		if err := t.measure(); err != nil {
			return 0, err
		}
	}
	return t.bytes, nil
}
