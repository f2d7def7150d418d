package transcript

import (
	"hash/maphash"

	"github.com/domarkx/domarkx/format/jsonlines"
)

// A named finds messages by what their records name. Only the first reading of a file needs it.
type named struct {
	seed   maphash.Seed
	groups map[uint64]int32           // the message of each group
	calls  map[uint64]int32           // the message of each call without a result
	once   map[uint64]bool            // digests of records with Once
	after  map[uint64]int32           // the last prompt with each Note.After
	behind map[uint64]int32           // the last message of the conversation at each record, by the record's ID
	queued map[string]int32           // queued prompts by their text
	ahead  map[uint64]jsonlines.Place // the last record of kind About of each group without a message
}

func newNamed() named {
	return named{seed: maphash.MakeSeed(), groups: map[uint64]int32{}, calls: map[uint64]int32{}, once: map[uint64]bool{}, after: map[uint64]int32{},
		behind: map[uint64]int32{}, queued: map[string]int32{}, ahead: map[uint64]jsonlines.Place{}}
}
