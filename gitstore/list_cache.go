package gitstore

import (
	"encoding/binary"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// cacheAfter is the number of misses after which a cache is written again.
const cacheAfter = 64

// setNames gives cached snapshots the names of the references, and reports whether it did: only if the references are those from
// which the list was made, as is usual.
func setNames(cached []domarkx.Info, refs []refdb.Ref) bool {
	if !slices.EqualFunc(cached, refs, func(info domarkx.Info, ref refdb.Ref) bool { return info.ID == ref.ID }) {
		return false
	}
	for i := range cached {
		cached[i].Name = refname.Sessions.Name(refs[i].Name)
	}
	return true
}

// encodeListCache returns the content of [derived.Sessions]: for each commit its id; number, messages, bytes and date;
// subject, preview and operation; and 1 with its description, or 0. The number of commits comes first.
func encodeListCache(infos []domarkx.Info) []byte {
	data := binary.AppendUvarint(make([]byte, 0, len(infos)*160), uint64(len(infos)))
	for _, info := range infos {
		data = derived.AppendText(data, info.ID)
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
	for _, text := range []string{about.Title, about.Agent, about.Branch, about.SourceID, about.SourceCreated, about.SourceUpdated} {
		data = derived.AppendText(data, text)
	}
	data = binary.AppendUvarint(data, uint64(len(about.Tags)))
	for _, tag := range about.Tags {
		data = derived.AppendText(data, tag)
	}
	return binary.AppendVarint(binary.AppendVarint(data, about.Started), about.Active)
}

// decodeListCache returns nil if the content is invalid.
func decodeListCache(data string) []domarkx.Info {
	const smallest = 1 + 4 + 3 + 1 // bytes in a record
	d := derived.NewDecoder(data)
	count := d.Count(smallest)
	infos, abouts := make([]domarkx.Info, count), make([]domarkx.About, count)
	for i := range infos {
		info := &infos[i]
		info.ID = d.Text()
		info.Number, info.Messages, info.Bytes, info.Date = int(d.Varint()), int(d.Varint()), d.Varint(), d.Varint()
		info.Subject, info.Preview, info.Operation = d.Text(), d.Text(), d.Text()
		if d.Uvarint() == 1 {
			info.About = &abouts[i]
			decodeAbout(d, info.About)
		}
	}
	if d.Bad() || d.More() {
		return nil
	}
	return infos
}

func decodeAbout(d *derived.Decoder, about *domarkx.About) {
	about.Title, about.Agent, about.Branch = d.Text(), d.Text(), d.Text()
	about.SourceID, about.SourceCreated, about.SourceUpdated = d.Text(), d.Text(), d.Text()
	for n := d.Count(1); n > 0; n-- {
		about.Tags = append(about.Tags, d.Text())
	}
	about.Started, about.Active = d.Varint(), d.Varint()
}
