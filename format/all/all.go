// Package all lists the codecs.
package all

import (
	"sync"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/claudecode"
	"github.com/domarkx/domarkx/format/codex"
	"github.com/domarkx/domarkx/format/copilot"
	"github.com/domarkx/domarkx/format/cursor"
	"github.com/domarkx/domarkx/format/gemini"
	"github.com/domarkx/domarkx/format/jsonvalue"
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

// recorders are the names of the formats whose calls are records.
var recorders = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, c := range Codecs() {
		names[c.Name] = c.Records
	}
	return names
})

// Records reports whether calls with this resource are records of calls that another program made: a codec
// says that of its format.
func Records(resource string) bool { return recorders()[resource] }

// IsRecord reports whether the text of a tool-call block records a call that another program made. Such a
// call must never run, whatever the resources of a workspace are called.
func IsRecord(call string) bool {
	v, err := jsonvalue.ParseOutline([]byte(call), func(name string, kind jsonvalue.Kind) bool { return name == "arguments" })
	if err != nil {
		return false
	}
	resource, _ := v.Get("resource")
	return resource.Kind() == jsonvalue.String && Records(resource.Text())
}
