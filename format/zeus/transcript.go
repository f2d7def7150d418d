package zeus

import (
	"bytes"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// keySessionDigest is the only member that this program adds to an entry: the SHA-256 of the
// transcript at session_path at the time when it was stored.
const keySessionDigest = "session_sha256"

// sessionPath returns the path of the transcript of a message's agent; "" if the message is not an
// agent.
func sessionPath(m domarkx.Message) string {
	if KindOf(m.Meta()) == "" {
		return ""
	}
	return strings.TrimSpace(transcript.Text(m.Meta(), keySessionPath))
}

// SessionDigest returns the SHA-256, in hexadecimal, of the transcript that was stored with an
// agent's message; "" if none was.
func SessionDigest(m domarkx.Message) string {
	if KindOf(m.Meta()) == "" {
		return ""
	}
	digest := transcript.Text(m.Meta(), keySessionDigest)
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return ""
	}
	return digest
}

// withSessionDigest returns an agent's message with the SHA-256 of the transcript that was stored
// with it.
func withSessionDigest(m domarkx.Message, sha256 string) domarkx.Message {
	entry := m.Metadata.With(keySessionDigest, jsonvalue.StringValue(sha256))
	m.Metadata = &entry
	return m
}

// IsTranscript reports whether a file that begins with head is a session of pi: its first line that
// is JSON is an object with the type "session" and an id. pi demands the same.
func IsTranscript(head []byte) bool {
	for line := range bytes.Lines(head) {
		v, err := jsonvalue.ParseValue(bytes.TrimSpace(line))
		if err != nil {
			continue
		}
		return v.Kind() == jsonvalue.Object && transcript.Text(v, "type") == "session" && transcript.Text(v, "id") != ""
	}
	return false
}
