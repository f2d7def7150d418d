// Package agentchatter reads and writes the sessions of agent-chatter, JSON
// documents of one snapshot each. SPEC.md beside this code says how they become
// domarkx sessions and back; session.schema.json is the format as a JSON Schema.
package agentchatter

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/schema"
)

// Name is what users call the format.
const Name = "agent-chatter"

// version is the only schemaVersion.
const version = "1.0"

//go:embed session.schema.json
var schemaText string

// Codec returns the codec for sessions of agent-chatter.
func Codec() format.Codec { return reading(maxWhole, maxMended) }

// reading returns the codec with these limits in place of [maxWhole] and [maxMended].
func reading(whole, mended int64) format.Codec {
	c := codec{whole, mended}
	return format.Codec{
		Name:   Name,
		Detect: Detect,
		Decode: format.Decoding(c.open),
		Open:   c.open,
		Encode: format.Encoding(Write),
		Write:  Write,
		Origin: format.Origin{Identify: Identify, Fork: fork, SavedAt: SavedAt, Place: Place},
	}
}

// A codec has limits; see [maxWhole].
type codec struct{ whole, mended int64 }

// sessionSchema is the schema of documents.
var sessionSchema = sync.OnceValue(func() *schema.Schema { return schema.MustCompile(schemaText) })

// The members of documents.
const (
	keySchemaVersion = "schemaVersion"
	keyTeamID        = "teamId"
	keySessionID     = "sessionId"
	keyCreatedAt     = "createdAt"
	keyUpdatedAt     = "updatedAt"
	keyContext       = "context"
	keyMetadata      = "metadata"

	keyMessages  = "messages"
	keyTeamTask  = "teamTask"
	keyTimestamp = "timestamp"
	keyVersion   = "version"

	keyID      = "id"
	keySpeaker = "speaker"
	keyContent = "content"
	keyRouting = "routing"

	keyMessageCount  = "messageCount"
	keyLastSpeakerID = "lastSpeakerId"
	keySummary       = "summary"
)

// keyRole is the member of message_metadata that marks a system message: its value is then "system".
const keyRole = "role"

// Detect reports whether a file is a session of agent-chatter. head must be the beginning of a JSON
// object that has either two of the members schemaVersion, teamId and sessionId, or a context with
// messages. A file called NAME.tmp is an unfinished save and does not match.
func Detect(head []byte, name string) bool {
	if strings.HasSuffix(name, ".tmp") {
		return false
	}
	seen := map[string]bool{}
	last := ""
	for depth, name := range format.Names(head) {
		switch {
		case depth == 1 && (name == "entries" || name == "schema_version"):
			return false // a snapshot of Zeus, which may have arbitrary other members
		case depth == 1 && (name == keySchemaVersion || name == keyTeamID || name == keySessionID):
			if seen[name] = true; len(seen) == 2 {
				return true
			}
		case depth == 2 && name == keyMessages && last == keyContext:
			return true
		}
		if depth == 1 {
			last = name
		}
	}
	return false
}
