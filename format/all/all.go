// Package all lists the codecs.
package all

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/claudecode"
	"github.com/domarkx/domarkx/format/codex"
	"github.com/domarkx/domarkx/format/copilot"
	"github.com/domarkx/domarkx/format/cursor"
	"github.com/domarkx/domarkx/format/gemini"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/format/openpocket"
	"github.com/domarkx/domarkx/format/pi"
	"github.com/domarkx/domarkx/format/qwen"
	"github.com/domarkx/domarkx/format/snapshotjson"
	"github.com/domarkx/domarkx/format/zeus"
)

// Codecs returns the codecs of all formats, in the order in which they are asked
// whether they recognise a file.
func Codecs() []format.Codec {
	return []format.Codec{snapshotjson.Codec(), agentchatter.Codec(), zeus.Codec(), openpocket.Codec(), claudecode.Codec(), codex.Codec(), gemini.Codec(),
		qwen.Codec(), copilot.Codec(), cursor.Codec(), opencode.Codec(), pi.Codec(), markdown.Codec()}
}
