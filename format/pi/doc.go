// Package pi reads and writes the session transcripts of pi, JSON lines of one entry
// each that form a tree. SPEC.md beside this code says how they become domarkx
// sessions and back; entry.schema.json is a line as a JSON Schema.
package pi

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "pi"

// version is the newest version of the format, in which transcripts are written.
const version = 3

//go:embed entry.schema.json
var schemaText string

// Codec returns the codec for transcripts of pi.
func Codec() format.Codec { return keeping(keepLines) }

// keeping returns the codec with another limit in place of [keepLines].
func keeping(keep int64) format.Codec {
	c := codec{keep: keep, schema: sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(schemaText) })}
	return format.Codec{
		Name:       Name,
		Extensions: []string{".jsonl"},
		Detect:     Detect,
		Decode:     c.decode,
		Encode:     Encode,
		Write:      Write,
		Identify:   Identify,
		Fork:       fork,
		Place:      Place,
		Open:       c.open,
		IsPart:     isPart,
		Grow:       c.grow,
	}
}

// codec compiles the schema when the first document needs it.
type codec struct {
	keep   int64 // see [keepLines]
	schema func() (*schema.Schema, error)
}

// The members of lines.
const (
	keyType          = "type"
	keyID            = "id"
	keyParentID      = "parentId"
	keyTimestamp     = "timestamp"
	keyVersion       = "version"
	keyCwd           = "cwd"
	keyParentSession = "parentSession"
	keyMessage       = "message"
	keyRole          = "role"
	keyContent       = "content"
	keySummary       = "summary"

	keyText      = "text"
	keyThinking  = "thinking"
	keySignature = "thinkingSignature"
	keyData      = "data"
	keyMimeType  = "mimeType"
	keyName      = "name"
	keyArguments = "arguments"

	keyToolCallID = "toolCallId"
	keyToolName   = "toolName"
	keyIsError    = "isError"
	keyCommand    = "command"
	keyOutput     = "output"

	keyFirstKept      = "firstKeptEntryId"
	keyFirstKeptIndex = "firstKeptEntryIndex" // in version 1
)

// The types of lines and the roles of messages that are more than kept.
const (
	typeSession       = "session"
	typeMessage       = "message"
	typeCompaction    = "compaction"
	typeBranchSummary = "branch_summary"
	typeCustomMessage = "custom_message"
	typeSessionInfo   = "session_info"

	roleUser       = "user"
	roleAssistant  = "assistant"
	roleToolResult = "toolResult"
	roleBash       = "bashExecution"
	roleCustom     = "custom"
	roleHook       = "hookMessage" // custom, in versions before 3
	roleBranch     = "branchSummary"
	roleCompaction = "compactionSummary"

	partText     = "text"
	partImage    = "image"
	partThinking = "thinking"
	partToolCall = "toolCall"
)

// The members that this program adds to user_metadata and message_metadata.
const (
	keyFork        = "fork"         // the entry that ends a branch beside the transcript's own
	keySessionName = "session_name" // what the last session_info says
	keyAfter       = "entries_after"
	keyBefore      = "entries_before"
	keyEntry       = "entry"   // the entry that the message was, without its content
	keyResults     = "results" // the same of the results of its calls
	keyOwn         = "domarkx" // in a part of keyEntry's content: how it stands in the message
)

// resource is the name of pi's tools in tool-call blocks. No workspace has a resource with this
// name.
const resource = "pi"

// codeNoResult is the error of calls without a result in the transcript, such as those of aborted
// turns. Any result keeps such calls from counting as pending.
const codeNoResult = "no_result"

// Detect reports whether a file is a transcript: its first readable line is a header of pi, or the
// beginning of another agent's transcript. Those are recognised so that they are not imported as
// another format.
func Detect(head []byte, _ string) bool {
	first := jsonlines.First(head)
	return isHeader(first) || agentOf(head, first) != ""
}

func isHeader(v domarkx.Value) bool {
	id, ok := v.Get(keyID)
	return transcript.Text(v, keyType) == typeSession && ok && id.Kind() == domarkx.String
}

const bom = "\ufeff"

// versionOf returns the version of a header; 0 if it is unknown.
func versionOf(header domarkx.Value) int {
	v, _ := header.Get(keyVersion)
	if v.Kind() == domarkx.Null {
		return 1
	}
	n, err := strconv.ParseFloat(v.Text(), 64)
	if v.Kind() != domarkx.Number || err != nil || n != 1 && n != 2 && n != 3 {
		return 0
	}
	return int(n)
}

// Identify returns which session a transcript is: by the id in its header, and the
// branch of it.
func Identify(h domarkx.Header) format.Identity {
	if h.UserMetadata == nil || !isHeader(*h.UserMetadata) {
		return format.Identity{}
	}
	about := *h.UserMetadata
	id := []string{transcript.Text(about, keyID)}
	if isPart(h) {
		id = append(id, transcript.Text(about, keyFork))
	}
	return format.Identity{ID: identity(id...), SessionID: transcript.Text(about, keyID), CreatedAt: transcript.Text(about, keyTimestamp)}
}

// identity is the identity of a transcript of that id, or of the branch of it that an entry ends.
func identity(id ...string) string {
	values := make([]domarkx.Value, len(id))
	for i, s := range id {
		values[i] = transcript.Str(s)
	}
	return domarkx.ArrayValue(values...).JSON()
}

// fork gives a session a new id, and records the file of its parent like pi does.
func fork(h domarkx.Header, f format.Fork) (domarkx.Header, bool) {
	if Identify(h).ID == "" {
		return h, false
	}
	about := h.UserMetadata.Without(keyFork)
	about = about.With(keyParentSession, transcript.Str(fileName(*h.UserMetadata))).With(keyID, transcript.Str(f.UUID)).With(keyTimestamp, transcript.Str(f.At.UTC().Format(isoTime)))
	if f.Cut {
		about = about.Without(keyAfter)
	}
	h.UserMetadata = &about
	return h, true
}

// isPart reports whether a session is a branch beside that which pi would open.
func isPart(h domarkx.Header) bool {
	return h.UserMetadata != nil && isHeader(*h.UserMetadata) && transcript.Has(*h.UserMetadata, keyFork)
}

// directoryName returns the directory name that pi uses for transcripts of a working directory.
func directoryName(cwd string) string {
	cwd = strings.TrimPrefix(strings.TrimPrefix(cwd, "/"), "\\")
	return "--" + strings.NewReplacer("/", "-", "\\", "-", ":", "-").Replace(cwd) + "--"
}
