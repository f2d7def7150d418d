package gitstore

import (
	"encoding/binary"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// cacheAfter is the number of misses after which a cache is written again.
const cacheAfter = 64

// A listCache contains the snapshots that List returns, in the order of the list, so that listing many sessions reads few
// objects. Its entries are found by the id of the commit, whose content never changes.
type listCache struct {
	infos []domarkx.Info
	next  int            // index of the entry after the last one found, at which find looks first
	at    map[string]int // indexes by commit id; nil until needed
}

// find returns the entry of a commit.
func (c *listCache) find(id string) (domarkx.Info, bool) {
	at, ok := c.next, c.next < len(c.infos) && c.infos[c.next].ID == id
	if !ok {
		if c.at == nil {
			c.at = make(map[string]int, len(c.infos))
			for i := range c.infos {
				c.at[c.infos[i].ID] = i
			}
		}
		at, ok = c.at[id]
	}
	if !ok {
		return domarkx.Info{}, false
	}
	c.next = at + 1
	return c.infos[at], true
}

// encodeListCache returns the content of [derived.Sessions]: for each commit its id; number, messages, bytes and date;
// subject, preview and operation; and 1 with what is said about it, or 0.
func encodeListCache(infos []domarkx.Info) []byte {
	data := make([]byte, 0, len(infos)*160)
	for _, info := range infos {
		data = derived.AppendHex(data, info.ID)
		for _, n := range []int64{int64(info.Number), int64(info.Messages), info.Bytes, info.Date} {
			data = binary.AppendVarint(data, n)
		}
		for _, text := range []string{info.Subject, info.Preview, info.Operation} {
			data = derived.AppendText(data, text)
		}
		data = appendAbout(data, info.About)
	}
	return data
}

func appendAbout(data []byte, about *domarkx.About) []byte {
	if about == nil {
		return append(data, 0)
	}
	data = append(data, 1)
	for _, text := range []string{about.Title, about.Agent, about.Branch} {
		data = derived.AppendText(data, text)
	}
	data = binary.AppendUvarint(data, uint64(len(about.Tags)))
	for _, tag := range about.Tags {
		data = derived.AppendText(data, tag)
	}
	return binary.AppendVarint(binary.AppendVarint(data, about.Started), about.Active)
}

// decodeListCache returns nil if the content is invalid.
func decodeListCache(data []byte) []domarkx.Info {
	const usualRecord = 64 // bytes; most records have more
	infos := make([]domarkx.Info, 0, len(data)/usualRecord)
	d := derived.NewDecoder(data)
	for d.More() {
		info := domarkx.Info{ID: d.Hex()}
		info.Number, info.Messages, info.Bytes, info.Date = int(d.Varint()), int(d.Varint()), d.Varint(), d.Varint()
		info.Subject, info.Preview, info.Operation = d.Text(), d.Text(), d.Text()
		info.About = decodeAbout(d)
		infos = append(infos, info)
	}
	if d.Bad() {
		return nil
	}
	return infos
}

func decodeAbout(d *derived.Decoder) *domarkx.About {
	if d.Uvarint() == 0 {
		return nil
	}
	about := &domarkx.About{Title: d.Text(), Agent: d.Text(), Branch: d.Text()}
	for n := d.Count(1); n > 0; n-- {
		about.Tags = append(about.Tags, d.Text())
	}
	about.Started, about.Active = d.Varint(), d.Varint()
	return about
}
