// Package zeus reads and writes the snapshots of Zeus: JSON documents that record which agents ran
// in which directories. SPEC.md beside this code defines how they become domarkx sessions and back;
// snapshot.schema.json describes the format as a JSON Schema.
package zeus

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "zeus"

// Version is the only schema_version that can be read and written.
const Version = 1

//go:embed snapshot.schema.json
var schemaText string

// Codec returns the codec for snapshots of Zeus.
func Codec() format.Codec {
	return format.Codec{
		Name:   Name,
		Detect: Detect,
		Decode: decode,
		Encode: format.Encoding(Write),
		Write:  Write,
		Origin: format.Origin{NamedFiles: &format.NamedFiles{Of: sessionPath, Is: IsTranscript, Digest: SessionDigest, WithDigest: withSessionDigest}},
	}
}

// snapshotSchema is the schema of documents.
var snapshotSchema = sync.OnceValue(func() *schema.Schema { return schema.MustCompile(schemaText) })

// The members of documents.
const (
	keySchemaVersion = "schema_version"
	keyCreatedAt     = "created_at"
	keyHostname      = "hostname"
	keyWorking       = "working_agent_ids"
	keyEntryCount    = "entry_count"
	keyEntries       = "entries"

	keyKind        = "kind"
	keySessionPath = "session_path"
)

// The kinds of entries.
const (
	Kitty   = "kitty"   // an agent in a window of kitty
	Stygian = "stygian" // an agent in a tmux session of its own
	Hoplite = "hoplite" // an agent in a tmux session that another agent owns
)

// KindOf returns the kind of an entry, as Zeus's loader reads it: without blanks around it, in any
// case. It is "" for an unknown kind.
func KindOf(entry jsonvalue.Value) string {
	kind := strings.ToLower(strings.TrimSpace(transcript.Text(entry, keyKind)))
	if slices.Contains([]string{Kitty, Stygian, Hoplite}, kind) {
		return kind
	}
	return ""
}

// Detect reports whether a file is a snapshot of Zeus: a JSON object with a schema_version, and
// with either no other member or another one that snapshots have. In a document without
// schema_version in head, an entry with a kind and a session_path decides.
func Detect(head []byte, _ string) bool {
	top := map[string]bool{}
	inner := map[string]bool{}
	for depth, name := range format.Names(head) {
		switch depth {
		case 1:
			top[name] = true
		case 3:
			if top[keyEntries] {
				inner[name] = true
			}
		}
		if top[keySchemaVersion] && (top[keyEntries] || top[keyWorking] || top[keyEntryCount] || top[keyHostname]) {
			return true
		}
		if inner[keyKind] && inner[keySessionPath] {
			return true
		}
	}
	return top[keySchemaVersion] && len(top) == 1
}
