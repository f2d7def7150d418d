package trust_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// base is a document that runs a bit of everything.
const base = "---\ntitle: Notes\n---\n\n```workspace-config\nresources:\n  - type: notes\n    id: notes\n```\n\n```setup-script bash\necho ready\n```\n\n" +
	"## user\n\nWrite a note.\n\n## assistant\n\nI write it.\n\n" +
	"```tool-call\n{\"resource\": \"notes\", \"tool\": \"write\", \"arguments\": {\"name\": \"a\", \"text\": \"b\"}}\n```\n\n" +
	"```tool-result\n{\"ok\": true, \"result\": null, \"version\": \"\"}\n```\n\n```bash name=list.sh\nls\n```\n"

// digest returns the digest of a document, and of the calls that it settled.
func digest(t *testing.T, text string, added *trust.Runs) (whole, settled trust.Digest) {
	t.Helper()
	doc, err := markdown.Decode(format.Source{Path: "notes.md", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	header := trust.HeaderDigest(doc.Header, added)
	d := trust.Digests{Whole: header, Settled: header}
	for _, m := range doc.Conversation {
		d = d.Message(m.Message)
	}
	return d.Whole, d.Settled
}

// TestDigestCovers edits a document. Trust has to end with each change of what runs, and with no other.
func TestDigestCovers(t *testing.T) {
	was, _ := digest(t, base, nil)
	tests := []struct {
		name, old, new string
		changes        bool
	}{
		{"title", "title: Notes", "title: More notes", false},
		{"text of the user", "Write a note.", "Write two notes.", false},
		{"text of the assistant", "I write it.", "Here it is.", false},
		{"result", `"result": null`, `"result": "done"`, false},
		{"a code block without a name", "I write it.", "```bash\nrm -r /\n```\n", false},
		{"a call of the user", "Write a note.", "```tool-call\n{\"resource\": \"notes\", \"tool\": \"fail\", \"arguments\": {}}\n```\n", false},
		{"a call that an agent recorded", "I write it.", "```tool-call\n{\"resource\": \"codex\", \"tool\": \"shell\", \"arguments\": {}}\n```\n", false},
		{"type of a resource", "type: notes", "type: local_shell", true},
		{"id of a resource", "id: notes", "id: pad", true},
		{"config of a resource", "id: notes", "id: notes\n    path: .", true},
		{"a second resource", "id: notes\n", "id: notes\n  - type: local_shell\n", true},
		{"setup script", "echo ready", "echo steady", true},
		{"language of the setup script", "setup-script bash", "setup-script sh", true},
		{"no setup script", "```setup-script bash\necho ready\n```\n\n", "", true},
		{"tool", `"tool": "write"`, `"tool": "fail"`, true},
		{"argument", `"text": "b"`, `"text": "c"`, true},
		{"white space in a call", `"text": "b"`, `"text":  "b"`, true},
		{"named block", "\nls\n", "\nls -l\n", true},
		{"name of the block", "name=list.sh", "name=all.sh", true},
		{"language of the block", "bash name=", "sh name=", true},
		{"a second named block", "## user\n\nWrite", "## assistant\n\n```bash name=b.sh\nls\n```\n\n## user\n\nWrite", true},
	}
	for _, tt := range tests {
		if !strings.Contains(base, tt.old) {
			t.Fatalf("%s: the document has no %q", tt.name, tt.old)
		}
		now, _ := digest(t, strings.Replace(base, tt.old, tt.new, 1), nil)
		if (now != was) != tt.changes {
			t.Errorf("%s: the digest changed: %v, want %v", tt.name, now != was, tt.changes)
		}
	}
	if now, _ := digest(t, base, &trust.Runs{Where: ".domarkx.toml", What: "plugins", Text: "{}"}); now == was {
		t.Error("what the repository adds is not covered")
	}
	if now, _ := digest(t, "# Notes\n\n## user\n\nHello.\n\n## assistant\n\nHello.\n", nil); !now.Empty() {
		t.Errorf("a document that runs nothing has the digest %s", now)
	}
}

// TestDigestIsUnambiguous compares documents whose parts have the same bytes at other places.
func TestDigestIsUnambiguous(t *testing.T) {
	block := func(name, text string) domarkx.Block {
		return domarkx.Block{Type: domarkx.CodeBlock, Language: "bash", Name: name, Text: text}
	}
	message := func(blocks ...domarkx.Block) domarkx.Message {
		return domarkx.Message{Role: domarkx.Assistant, Content: blocks}
	}
	conversations := [][]domarkx.Message{
		{message(block("a", "bc"))},
		{message(block("ab", "c"))},
		{message(block("a", "b"), block("c", ""))},
		{message(block("a", "b")), message(block("c", ""))},
		{message(block("c", "")), message(block("a", "b"))},
		{message(block("a", "b"))},
	}
	seen := map[trust.Digest]int{}
	for i, conversation := range conversations {
		var d trust.Digest
		for _, m := range conversation {
			d = d.Message(m)
		}
		if other, ok := seen[d]; ok {
			t.Errorf("conversations %d and %d have the same digest", other, i)
		}
		seen[d] = i
	}
}

func TestSettledDigest(t *testing.T) {
	whole, settled := digest(t, base, nil)
	if whole != settled {
		t.Error("all calls have results, but the settled digest differs")
	}
	pending := base + "\n```tool-call\n{\"resource\": \"notes\", \"tool\": \"fail\", \"arguments\": {}}\n```\n"
	whole, now := digest(t, pending, nil)
	if whole == settled || now != settled {
		t.Errorf("with a pending call: whole %v, settled as before %v", whole != settled, now == settled)
	}
}
