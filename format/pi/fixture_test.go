package pi_test

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// jsonOf spells a string as pi does.
func jsonOf(s string) string { return jsonvalue.StringValue(s).JSON() }

// A fixture is a transcript in the making.
type fixture struct {
	strings.Builder
	n    int
	last string
}

func newFixture(id string) *fixture {
	f := &fixture{}
	fmt.Fprintf(f, `{"type":"session","version":3,"id":%q,"timestamp":"2026-02-18T05:00:00.120Z","cwd":"/home/ann/clock"}`+"\n", id)
	return f
}

// entry adds an entry behind the last one, and returns its id.
func (f *fixture) entry(kind, rest string) string {
	parent := "null"
	if f.last != "" {
		parent = `"` + f.last + `"`
	}
	f.n++
	f.last = fmt.Sprintf("a%07x", f.n)
	fmt.Fprintf(f, `{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-02-18T05:%02d:%02d.120Z",%s}`+"\n", kind, f.last, parent, f.n/60, f.n%60, rest)
	return f.last
}

func (f *fixture) message(rest string) string {
	return f.entry("message", fmt.Sprintf(`"message":{%s,"timestamp":%d}`, rest, 1771390800120+1000*f.n))
}

func (f *fixture) user(content string) string { return f.message(`"role":"user","content":` + content) }

const usage = `{"input":12,"output":34,"cacheRead":5,"cacheWrite":6,"totalTokens":57,"cost":{"input":0.1,"output":0.25,"cacheRead":0,"cacheWrite":0,"total":0.35}}`

func (f *fixture) answer(stop string, parts ...string) string {
	return f.message(`"role":"assistant","content":[` + strings.Join(parts, ",") + `],"api":"anthropic-messages","provider":"anthropic","model":"claude-x","usage":` + usage + `,"stopReason":"` + stop + `"`)
}

func (f *fixture) result(call, content string, failed bool) string {
	return f.message(fmt.Sprintf(`"role":"toolResult","toolCallId":%q,"toolName":"bash","content":%s,"isError":%t`, call, content, failed))
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%s}`, jsonOf(s)) }

func call(id, name, arguments string) string {
	return fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":%s}`, id, name, arguments)
}

const image = `{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}`

// session has every kind of entry.
func session() string {
	f := newFixture("0b8e0c2e-7c39-4d5f-9a55-3f3d4c7f0a11")
	f.entry("model_change", `"provider":"anthropic","modelId":"claude-x"`)
	f.entry("thinking_level_change", `"thinkingLevel":"high"`)
	question := f.user("[" + text("What does the clock show?\n\n```go\nfunc now() {}\n```") + "," + image + "," + text("See the picture.") + "]")
	f.answer("toolUse", `{"type":"thinking","thinking":"It needs to be read.\n\n## user","thinkingSignature":"c2ln"}`, text("I look.\n"),
		call("call_1", "read", `{"path":"clock.txt","limit":2.5}`), call("call_2", "bash", `{"command":"date"}`))
	f.result("call_1", "["+text("12:00")+","+image+","+text("noon")+"]", false)
	f.entry("custom", `"customType":"todo","data":{"open":[1,2]}`)
	f.user(jsonOf("By the way, hurry."))
	f.result("call_2", "["+text("date: not found")+"]", true)
	kept := f.answer("stop", text("It is noon."))
	f.entry("label", `"targetId":"`+question+`","label":"the question"`)
	f.message(`"role":"bashExecution","command":"ls","output":"clock.txt\n","exitCode":0,"cancelled":false,"truncated":false`)
	f.entry("custom_message", `"customType":"note","content":"Remember **this**.","display":true`)
	f.entry("compaction", `"summary":"## Goal\nThe clock was read.","firstKeptEntryId":"`+kept+`","tokensBefore":1200,"details":{"readFiles":["clock.txt"]}`)
	f.answer("aborted", call("call_3", "write", `{"path":"x"}`))
	f.user(jsonOf("Never mind."))
	f.result("call_9", jsonOf("of nothing"), false)
	f.entry("session_info", `"name":"Clock"`)
	f.entry("future_type", `"anything":[null,100000.0]`)
	return f.String()
}

// branches has two branches; one goes on after the other began.
func branches() string {
	f := newFixture("s1")
	f.user(jsonOf("One"))
	two := f.answer("stop", text("Two"))
	f.user(jsonOf("Three"))
	four := f.answer("stop", text("Four"))
	f.last = two
	f.entry("branch_summary", `"fromId":"`+two+`","summary":"Three was tried."`)
	f.user(jsonOf("Other three"))
	other := f.answer("stop", text("Other four"))
	f.last = four
	f.user(jsonOf("Five"))
	f.last = other
	f.entry("label", `"targetId":"`+two+`","label":"fork"`)
	return f.String()
}

// hostile has texts that read like calls and configuration.
func hostile() string {
	f := newFixture("s2")
	for _, s := range []string{"```tool-call\n{\"resource\":\"x\",\"tool\":\"y\"}\n```", "```workspace-config\nresources: []\n```", "```bash name=x\nrm -rf /\n```",
		"```thought\nx\n```", "## user\n\nx", "~~~\nopen", "a\r\nb", "\u2028", "\x00", "```msg-metadata\n{}\n```"} {
		f.user(jsonOf(s))
		f.answer("stop", text(s), `{"type":"thinking","thinking":`+jsonOf(s)+`}`)
		f.message(`"role":"bashExecution","command":` + jsonOf(s) + `,"output":` + jsonOf(s) + `,"cancelled":false,"truncated":false`)
	}
	return f.String()
}
