package markdown_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// decode reads a document and checks that its bytes come back.
func decode(t *testing.T, text string) *domarkx.Document {
	t.Helper()
	doc, err := markdown.Decode(format.Source{Path: "s.md", Data: []byte(text), Include: included})
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	checkBytes(t, []byte(text))
	return doc
}

// shape is a document as one line of JSON for the header, unless it is that of an
// empty session, and one for each message.
func shape(doc *domarkx.Document) string {
	var lines []string
	if h := doc.Header.Value(); !h.Equal(domarkx.NewHeader().Value()) {
		lines = append(lines, h.Without("version").JSON())
	}
	for _, m := range doc.Conversation {
		lines = append(lines, m.Value().JSON())
	}
	return strings.Join(lines, "\n")
}

func TestDecodeMessages(t *testing.T) {
	const hi = `{"role":"user","content":[{"type":"text","value":"hi"}]}`
	const empty = `{"role":"user","content":[]}`
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"a message", "## user\n\nhi\n", hi},
		{"no blank line", "## user\nhi", hi},
		{"blank lines", "## user\n\n \n\t\nhi\n\n  \n", hi},
		{"trailing blanks", "## user\nhi \t \n\n  \n\t", hi},
		{"blanks elsewhere", "## user\n  a  \nb\n", `{"role":"user","content":[{"type":"text","value":"  a  \nb"}]}`},
		{"empty messages", "## user\n\n## user\n## user", empty + "\n" + empty + "\n" + empty},
		{"roles in any case", "## User\n## ASSISTANT ##\n   ##\tuser \t# \n", empty + "\n" + `{"role":"assistant","content":[]}` + "\n" + empty},
		{"other headings are content", "## user\n## users\n# user\n##user\n### user\n## user x\n", `{"role":"user","content":[{"type":"text","value":"## users\n# user\n##user\n### user\n## user x"}]}`},
		{"setext headings are content", "## user\nuser\n----\n", `{"role":"user","content":[{"type":"text","value":"user\n----"}]}`},
		{"system message", "## system_message\nhi\n", `{"role":"user","message_metadata":{"role":"system"},"content":[{"type":"text","value":"hi"}]}`},
		{"system message with a role", "## System_Message\n```json msg-metadata\n{\"role\": \"developer\"}\n```\n", `{"role":"user","message_metadata":{"role":"developer"},"content":[]}`},
		{"system message with metadata", "## system_message\n```msg-metadata\n{\"a\": 1}\n```\n", `{"role":"user","message_metadata":{"a":1,"role":"system"},"content":[]}`},
		{"metadata", "## user\n\n```msg-metadata\n{\"a\": 1.50}\n```\n\nhi\n", `{"role":"user","message_metadata":{"a":1.50},"content":[{"type":"text","value":"hi"}]}`},
		{"metadata comes first", "## user\nhi\n```msg-metadata\n{}\n```\n", `{"role":"user","content":[{"type":"text","value":"hi"},{"type":"code","language":"msg-metadata","code":"{}"}]}`},
		{"code", "## user\nhi\n\n```bash name=list.sh\nls\n\n```\nhi\n~~~ py\n\n~~~~\n", `{"role":"user","content":[{"type":"text","value":"hi"},{"type":"code","language":"bash","name":"list.sh","code":"ls\n"},{"type":"text","value":"hi"},{"type":"code","language":"py","code":""}]}`},
		{"other attributes", "## user\n```python {.x} name=a b name=c\n```\n``` name=\n```\n```\n```\n", `{"role":"user","content":[{"type":"code","language":"python","name":"a","code":""},{"type":"code","language":"","name":"","code":""},{"type":"code","language":"","code":""}]}`},
		{"longer fences", "## user\n````md\n```sh\n## user\n```\n````\n", `{"role":"user","content":[{"type":"code","language":"md","code":"` + "```sh\\n## user\\n```" + `"}]}`},
		{"an indented fence", "## user\n  ```\n  a\n    b\n c\n\td\n   ```\n", `{"role":"user","content":[{"type":"code","language":"","code":"a\n  b\nc\n  d"}]}`},
		{"an open fence", "## user\n```sh\nls\n\n## user\n", `{"role":"user","content":[{"type":"code","language":"sh","code":"ls\n\n## user"}]}`},
		{"a fence in a list is text", "## user\n- a\n  ```\n  ## user\n  ```\n", `{"role":"user","content":[{"type":"text","value":"- a\n  ` + "```" + `\n  ## user\n  ` + "```" + `"}]}`},
		{"indented code is text", "## user\n\n    ## user\n", `{"role":"user","content":[{"type":"text","value":"    ## user"}]}`},
		{"HTML does not hide a heading", "## user\n<pre>\n## user\n", `{"role":"user","content":[{"type":"text","value":"<pre>"}]}` + "\n" + empty},
		{"escaped", "## user\n\\## user\n\\\\## Assistant ##\n  \\## user\n\\## users\n\\[include](x)\n> \\\\[INCLUDE](y#1)\n", `{"role":"user","content":[{"type":"text","value":"## user\n\\## Assistant ##\n  ## user\n\\## users\n[include](x)\n> \\[INCLUDE](y#1)"}]}`},
		{"escaped in a list is not", "## user\n- a\n  \\## user\n", `{"role":"user","content":[{"type":"text","value":"- a\n  \\## user"}]}`},
		{"escaped in code is not", "## user\n```\n\\## user\n\\[include](x)\n```\n", `{"role":"user","content":[{"type":"code","language":"","code":"\\## user\n\\[include](x)"}]}`},
		{"a quote is the older spelling", "## user\n\n> hi\n>there\n>\n>   you\n>\ttab\n", `{"role":"user","content":[{"type":"text","value":"hi\nthere\n\n  you\n  tab"}]}`},
		{"a quote that goes on without a marker", "## user\n> hi\nthere\n", `{"role":"user","content":[{"type":"text","value":"hi\nthere"}]}`},
		{"a quote and code", "## user\n```msg-metadata\n{}\n```\n```sh\nls\n```\n> hi\n> ```\n> x\n> ```\n", `{"role":"user","message_metadata":{},"content":[{"type":"code","language":"sh","code":"ls"},{"type":"text","value":"hi\n` + "```\\nx\\n```" + `"}]}`},
		{"an empty quote", "## user\n>\n", empty},
		{"two quotes are Markdown", "## user\n> a\n\n> b\n", `{"role":"user","content":[{"type":"text","value":"> a\n\n> b"}]}`},
		{"a quote and text are Markdown", "## user\n> a\n\nb\n", `{"role":"user","content":[{"type":"text","value":"> a\n\nb"}]}`},
		{"CRLF", "## user\r\n\r\na\r\nb\r\n\r\n```sh\r\nx\r\ny\r\n```\r\n", `{"role":"user","content":[{"type":"text","value":"a\nb"},{"type":"code","language":"sh","code":"x\ny"}]}`},
		{"a lone CR is no line end", "## user\na\r## user\rb\n", `{"role":"user","content":[{"type":"text","value":"a\r## user\rb"}]}`},
		{"but one at the end is", "## user\n```\nx\n```\r", `{"role":"user","content":[{"type":"code","language":"","code":"x"}]}`},
		{"also after a heading", "## user\r", empty},
		{"nor is U+2028", "## user\na\u2028## user\u2029\u0085b\n", `{"role":"user","content":[{"type":"text","value":"a` + "\u2028## user\u2029\u0085" + `b"}]}`},
		{"NUL and invalid UTF-8", "## user\na\x00\xff\xc3b\n", `{"role":"user","content":[{"type":"text","value":"a\u0000` + "\ufffd\ufffd" + `b"}]}`},
		{"BOM", "\ufeff## user\nhi\n", hi},
		{"a whole message", "## assistant\n```json domarkx-message\n{\"role\": \"assistant\", \"content\": [{\"type\": \"text\", \"value\": \"\"}], \"x\": 1}\n```\n", `{"role":"assistant","content":[{"type":"text","value":""}],"x":1}`},
		{"a whole message and more", "## user\n```json domarkx-message\n{\"role\": \"user\", \"content\": []}\n```\nhi\n", hi},
		{"a whole message comes first", "## user\nhi\n```json domarkx-message\n{\n```\n", `{"role":"user","content":[{"type":"text","value":"hi"},{"type":"code","language":"json","code":"{"}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := shape(decode(t, test.text)); got != test.want {
				t.Errorf("%q:\ngot  %s\nwant %s", test.text, got, test.want)
			}
		})
	}
}

func TestDecodeHeader(t *testing.T) {
	const workspace = `"workspace":{"resources":[{"type":"docker_sandbox","image":"ubuntu:latest"}]}`
	const block = "```workspace-config\nresources:\n  - type: docker_sandbox\n    image: \"ubuntu:latest\"\n    # more\n```\n"
	for _, test := range []struct{ name, text, want string }{
		{"front matter", "---\ntitle: T\n---\n", `{"metadata":{"user_metadata":{"title":"T"}},"execution_config":{}}`},
		{"empty front matter", "---\n---\n", `{"metadata":{"user_metadata":{}},"execution_config":{}}`},
		{"front matter with CRLF, BOM and dots", "\ufeff--- \r\na: 1\r\n...\r\n", `{"metadata":{"user_metadata":{"a":1}},"execution_config":{}}`},
		{"session-config", "```session-config\n{\"engine\": \"local_shell\"}\n```\n", `{"metadata":{},"execution_config":{"engine":"local_shell"}}`},
		{"session-config in YAML", "```session-config\nengine: docker\ntimeout: 60\n```\n", `{"metadata":{},"execution_config":{"engine":"docker","timeout":60}}`},
		{"an empty session-config", "```session-config\n```\n", ``},
		{"the older session-config and setup", "```json session-config\n{}\n```\n```python setup-script\nx\n```\n", `{"metadata":{},"execution_config":{},"setup_script":{"language":"python","code":"x"}}`},
		{"the block after session-config", "```session-config\n{}\n```\n\n\n```python\nx\n```\n", `{"metadata":{},"execution_config":{},"setup_script":{"language":"python","code":"x"}}`},
		{"not after text", "```session-config\n{}\n```\ntext\n```python\nx\n```\n", "{\"metadata\":{\"preamble\":\"text\\n```python\\nx\\n```\"},\"execution_config\":{}}"},
		{"not where one is marked", "```session-config\n{}\n```\n```python\nx\n```\n``` setup-script\ny\n```\n", "{\"metadata\":{\"preamble\":\"```python\\nx\\n```\"},\"execution_config\":{},\"setup_script\":{\"language\":\"\",\"code\":\"y\"}}"},
		{"workspace-config", block, `{"metadata":{},"execution_config":{` + workspace + `}}`},
		{"workspace-config beside session-config", "```session-config\n{\"workspace\": 1, \"engine\": \"x\"}\n```\n" + block, `{"metadata":{},"execution_config":{` + workspace + `,"engine":"x"}}`},
		{"workspace-config in JSON", "```json workspace-config\n{\"resources\": [{\"type\": \"x\"}]}\n```\n", `{"metadata":{},"execution_config":{"workspace":{"resources":[{"type":"x"}]}}}`},
		{"workspace-config in a message", "## user\na\n" + block + "b\n" + strings.Replace(block, "ubuntu", "debian", 1), `{"metadata":{},"execution_config":{` + workspace + `}}` + "\n" + `{"role":"user","content":[{"type":"text","value":"a\n\nb"}]}`},
		{"text", "# Title\n\ntext\n\n```sh\nls\n```\n\n```session-config\n{\"a\": 1}\n```\n\nmore\n\\## user\n", "{\"metadata\":{\"preamble\":\"# Title\\n\\ntext\\n\\n```sh\\nls\\n```\\n\\nmore\\n## user\"},\"execution_config\":{\"a\":1}}"},
		{"only the first session-config", "```session-config\n{\"a\": 1}\n```\n```session-config\n{\"a\": 2}\n```\n", "{\"metadata\":{},\"execution_config\":{\"a\":1},\"setup_script\":{\"language\":\"session-config\",\"code\":\"{\\\"a\\\": 2}\"}}"},
		{"the rest of a snapshot", "```json domarkx-snapshot\n{\"snapshot_id\": \"i\", \"metadata\": {\"x\": 1, \"preamble\": 2}, \"y\": null}\n```\n\ntext\n", `{"snapshot_id":"i","metadata":{"x":1,"preamble":"text"},"execution_config":{},"y":null}`},
		{"blocks beat the rest of a snapshot", "---\na: 1\n---\n```json domarkx-snapshot\n{\"version\": \"1.0\", \"metadata\": {\"user_metadata\": null}, \"execution_config\": {\"b\": 1}, \"setup_script\": null}\n```\n```session-config\n{\"b\": 2}\n```\n```sh setup-script\n```\n", `{"metadata":{"user_metadata":{"a":1}},"execution_config":{"b":2},"setup_script":{"language":"sh","code":""}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := shape(decode(t, test.text)); got != test.want {
				t.Errorf("%q:\ngot  %s\nwant %s", test.text, got, test.want)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	deep := strings.Repeat("[", 998) + strings.Repeat("]", 998)
	for _, test := range []struct{ name, text, want string }{
		{"unclosed front matter", "---\ntitle: x\n\n## user\n", "s.md:1:1: the front matter is not closed, expected a line --- after it"},
		{"broken front matter", "---\na: 1\nb: [1, 2\n---\n", "s.md:3:4: front matter: while parsing a flow sequence: did not find expected ',' or ']'"},
		{"front matter of two lines", "---\nkey: value\nfoo\n---\n", "s.md:3:1: front matter: while scanning a simple key: could not find expected ':'"},
		{"front matter that is a list", "---\n- a\n---\n", "s.md:2:1: front matter: is a YAML sequence, expected a mapping"},
		{"front matter that is text", "---\ntext\n---\n", "s.md:2:1: front matter: is a YAML scalar, expected a mapping"},
		{"NUL in front matter", "---\na: 1\nb: x\x00\n---\n", "s.md:3:5: front matter: the character U+0000 is not allowed in YAML, expected an escape in double quotes"},
		{"a repeated key", "---\na: 1\nb: 1\na: 2\n---\n", "s.md:4:1: front matter: the key \"a\" is there already"},
		{"broken session-config", "\n```session-config\n{\n  \"a\": tru\n}\n```\n", "s.md:4:8: session-config block: unexpected 't', expected a JSON value"},
		{"session-config that is a list", "```session-config\n[]\n```\n", "s.md:2:1: session-config block: is a YAML sequence, expected a mapping"},
		{"JSON session-config that is YAML", "```json session-config\na: 1\n```\n", "s.md:2:1: session-config block: unexpected 'a', expected a JSON value"},
		{"broken YAML in session-config", "```session-config\na: 1\nb: c: d\n```\n", "s.md:3:5: session-config block: mapping values are not allowed in this context"},
		{"broken metadata", "## user\n\n  ```msg-metadata\n  {\"a\": }\n  ```\n", "s.md:4:9: msg-metadata block: unexpected '}', expected a JSON value"},
		{"empty metadata", "## user\n```msg-metadata\n```\n", "s.md:3:1: msg-metadata block: unexpected end of input, expected a JSON value"},
		{"metadata that is no object", "## user\n```msg-metadata\n1\n```\n", "s.md:3:1: msg-metadata block: is not a JSON object"},
		{"metadata that is too deep", "## user\n```msg-metadata\n{\"a\": " + deep + "}\n```\n", "s.md:3:1: msg-metadata block: is nested too deep"},
		{"no list of resources", "## user\n\n```workspace-config\n# none\nresources: {}\n```\n", "s.md:5:1: /resources: workspace-config block: is not a list, expected a list of resources"},
		{"no resources", "```workspace-config\na: 1\n```\n", "s.md:2:1: /resources: workspace-config block: the key \"resources\" is missing, expected a list of resources"},
		{"resources that are no list", "```workspace-config\nresources:\n```\n", "s.md:2:1: /resources: workspace-config block: is not a list, expected a list of resources"},
		{"a resource without a type", "```workspace-config\nresources:\n- type: x\n- a: b\n```\n", "s.md:2:1: /resources/1/type: workspace-config block: is missing, expected the type of the resource"},
		{"a resource that is no mapping", "```workspace-config\nresources: [x]\n```\n", "s.md:2:1: /resources/0: workspace-config block: is a string, expected an object with the key \"type\""},
		{"an odd id in JSON", "```json workspace-config\n{\"resources\": [{\"type\": \"x\"},\n  {\"type\": \"y\", \"id\": \"a/b\"}]}\n```\n", `s.md:3:23: /resources/1/id: workspace-config block: is not a valid resource id, expected at most 100 letters, digits, ".", "_" and "-", not beginning with "." or "-"`},
		{"an id twice", "```workspace-config\nresources: [{type: x, id: a}, {type: y, id: a}]\n```\n", `s.md:2:1: /resources/1/id: workspace-config block: is "a", which is already the id of another resource`},
		{"no resources in a session-config", "```session-config\n{\"engine\": \"x\",\n \"workspace\": {\"resources\": {}}}\n```\n", "s.md:3:29: /workspace/resources: session-config block: is not a list, expected a list of resources"},
		{"no resources in a domarkx-snapshot", "```json domarkx-snapshot\n{\"execution_config\": {\"workspace\": 1}}\n```\n", "s.md:2:36: /execution_config/workspace: domarkx-snapshot block: is a number, expected an object with a list of resources"},
		{"an empty workspace-config", "```workspace-config\n```\n", "s.md:2:1: /resources: workspace-config block: the key \"resources\" is missing, expected a list of resources"},
		{"a broken whole message", "## user\n```json domarkx-message\n{\"role\": \"user\",\n \"content\": [1]}\n```\n", "s.md:4:14: /content/0: domarkx-message block: is a number, expected a content block object"},
		{"a whole message of another role", "## user\n```json domarkx-message\n{\"role\": \"assistant\", \"content\": []}\n```\n", "s.md:2:1: domarkx-message block: role is \"assistant\", expected \"user\" as in the heading"},
		{"a snapshot of another version", "```json domarkx-snapshot\n{\"version\": \"2.0\"}\n```\n", "s.md:2:13: /version: domarkx-snapshot block: version is \"2.0\", expected \"1.0\""},
		{"a snapshot with messages", "```json domarkx-snapshot\n{\"conversation\": []}\n```\n", "s.md:1:1: domarkx-snapshot block: has a conversation, expected the messages under headings"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := markdown.Decode(format.Source{Path: "s.md", Data: []byte(test.text)})
			if err == nil || err.Error() != test.want {
				t.Errorf("%q:\ngot  %v\nwant %s", test.text, err, test.want)
			}
		})
	}
}

func TestParseMessageWantsOne(t *testing.T) {
	for _, text := range []string{"", "text\n", "## user\n## user\n", "\n## user\n", "---\n---\n## user\n", "## user\n[include](x)\n"} {
		if m, err := markdown.ParseMessage([]byte(text)); err == nil {
			t.Errorf("%q: got %s", text, m.Value().JSON())
		}
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		name, head string
		want       bool
	}{
		{"a.md", "# Title\n\n## user\nhi", true},
		{"a", "## Assistant\n", true},
		{"", "\ufeff## user", true},
		{"a.md", "```session-config\n{", true},
		{"a.MD", "text\n\n```workspace-config\n", true},
		{"a.md", "---\na: 1\n---\n## system_message\n", true},
		{"a.md", "# Title\n\n## Usage\n", false},
		{"a.md", "```\n## user\n```\n", false},
		{"a.md", "", false},
		{"a.sh", "## user\nls\n", false},
		{"a.json", "{}", false},
	} {
		if got := markdown.Detect([]byte(test.head), test.name); got != test.want {
			t.Errorf("%s, %q: got %t", test.name, test.head, got)
		}
	}
}
