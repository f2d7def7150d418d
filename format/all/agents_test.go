package all_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// grants matches the names of members that give an agent rights, or name programs and servers.
var grants = regexp.MustCompile(`(?i)permission|approv|sandbox|trust|provider|mcp|hook|allow|bypass|danger|base_?url|endpoint|^env$|api_?key|plugin|settings|instructions`)

// harmless are the members that agents require, with the only values that they may have: nothing is
// granted, and no provider is named.
var harmless = map[string]string{
	"codex approval_policy": `"on-request"`,
	"codex sandbox_policy":  `{"type":"read-only"}`,
	"opencode providerID":   `"unknown"`,
	"pi provider":           `"unknown"`,
}

// sealed is what only the program that wrote it can send to its model: signatures and encrypted reasoning.
var sealed = []string{"c2ln", "Z0FBQUFB", "signature", "encrypted_content"}

// TestWrittenTranscripts writes each agent's session for each agent, with metadata that claims everything:
// the written document grants nothing, names no provider, server or hook, and has no signature.
func TestWrittenTranscripts(t *testing.T) {
	claims := jsonvalue.ObjectValue()
	for _, name := range []string{"permissionMode", "approval_policy", "sandbox_policy", "model_provider", "providerID", "mcp_servers", "hooks", "allowedTools", "base_url", "env", "instructions"} {
		claims = claims.With(name, jsonvalue.StringValue("pwned"))
	}
	for _, reader := range transcripts() {
		data, err := os.ReadFile("../" + strings.ReplaceAll(reader.Name, "-", "") + "/testdata/session.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for _, writer := range transcripts() {
			if writer.Write == nil { // it can only be read
				continue
			}
			doc, err := reader.Decode(format.Source{Path: "session.jsonl", Data: data})
			if err != nil {
				t.Fatal(err)
			}
			claim(doc, claims)
			out, err := writer.Encode(doc, format.Target{Session: "s", Losses: &format.Losses{}, New: &format.NewSession{ID: "019ca000-0000-7000-8000-000000000009", WorkDir: "/w"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range append(sealed, "pwned") {
				if strings.Contains(string(out), word) {
					t.Errorf("what is written from %s for %s has %q", reader.Name, writer.Name, word)
				}
			}
			for _, v := range values(t, out) {
				checkGrants(t, writer.Name, v)
			}
		}
	}
}

// transcripts returns the codecs of transcripts.
func transcripts() []format.Codec {
	return slices.DeleteFunc(all.Codecs(), func(c format.Codec) bool { return !c.Records })
}

// claim adds members to all metadata of a document.
func claim(doc *domarkx.Document, claims jsonvalue.Value) {
	with := func(v *jsonvalue.Value) *jsonvalue.Value {
		all := jsonvalue.ObjectValue()
		if v != nil {
			all = *v
		}
		for _, m := range claims.Members() {
			all = all.With(m.Name, m.Value)
		}
		return &all
	}
	doc.Header.UserMetadata = with(doc.Header.UserMetadata)
	doc.Header.ExecutionConfig = *with(&doc.Header.ExecutionConfig)
	doc.Header.Extra = append(doc.Header.Extra, claims.Members()...)
	for i := range doc.Conversation {
		doc.Conversation[i].Metadata = with(doc.Conversation[i].Metadata)
	}
}

// values returns the values in JSON, or in lines of JSON.
func values(t *testing.T, data []byte) []jsonvalue.Value {
	t.Helper()
	if v, err := jsonvalue.ParseValue(data); err == nil {
		return []jsonvalue.Value{v}
	}
	var list []jsonvalue.Value
	for line := range strings.Lines(string(data)) {
		v, err := jsonvalue.ParseValue([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func checkGrants(t *testing.T, agent string, v jsonvalue.Value) {
	t.Helper()
	for _, m := range v.Members() {
		if grants.MatchString(m.Name) && harmless[agent+" "+m.Name] != m.Value.JSON() {
			t.Errorf("%s would read the member %s: %s", agent, m.Name, m.Value.JSON())
		}
		checkGrants(t, agent, m.Value)
	}
	for _, item := range v.Items() {
		checkGrants(t, agent, item)
	}
}
