package pi

import (
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/transcript"
)

// findRemoved looks in the original for messages that were removed since. The entries that
// stood before them, such as changes of the model, go before the next message that remains.
func (e *encoder) findRemoved() error {
	if e.to.Original == nil {
		return nil
	}
	fork := transcript.Text(e.about, keyFork)
	c := codec{keep: keepLines, schema: sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(schemaText) })}
	return e.to.Original(func(f format.File) error {
		for s, err := range c.open(f) {
			if err != nil {
				return err
			}
			if transcript.Text(*s.Header.UserMetadata, keyFork) == fork {
				return e.compare(s.Messages)
			}
		}
		return nil
	})
}

// compare compares the messages with those of the original.
func (e *encoder) compare(original format.Messages) error {
	e.removed = map[key][]domarkx.Value{}
	var pending []domarkx.Value
	for k := range original.Len() {
		m, err := original.At(k)
		if err != nil {
			return err
		}
		entry, _ := m.Metadata.Get(keyEntry)
		id := keyOf(transcript.Text(entry, keyID))
		if e.ids[id]&idChosen != 0 {
			if len(pending) > 0 {
				e.removed[id], pending = pending, nil
			}
			continue
		}
		before, _ := m.Metadata.Get(keyBefore)
		pending = append(pending, before.Items()...)
		results, _ := m.Metadata.Get(keyResults)
		for _, result := range results.Items() {
			before, _ := result.Get(keyBefore)
			pending = append(pending, before.Items()...)
		}
	}
	return nil
}
