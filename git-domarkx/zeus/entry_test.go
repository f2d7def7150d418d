package zeus_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

func TestEntries(t *testing.T) {
	doc, err := zeusformat.Codec().Decode(format.Source{Data: []byte(`{"schema_version":1.0,"working_agent_ids":["a "," ",7],"entries":[
		{"kind":" KITTY ","agent_id":" a ","name":"n","session_path":"/s"}, 7,
		{"kind":"hoplite","agent_id":"h","session_path":"/h","cwd":9}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	entries, working, err := zeus.Entries(doc)
	if err != nil {
		t.Fatal(err)
	}
	want := []zeus.Entry{
		{Kind: zeusformat.Kitty, ID: "a", Name: "n", Role: "hippeus", Path: "/s"},
		{Kind: zeusformat.Hoplite, ID: "h", Role: "hoplite", Path: "/h"},
	}
	if !slices.Equal(entries, want) || working[0] != "a" {
		t.Errorf("got %+v, at work %q", entries, working)
	}
}

// TestEntriesRefuse checks that invalid snapshots, such as those edited by hand, are
// rejected.
func TestEntriesRefuse(t *testing.T) {
	const message = "---\nschema_version: 1\n---\n\n## assistant\n\n```msg-metadata\n{\"kind\": \"stygian\", \"agent_id\": \"a\"}\n```\n\nText.\n"
	for _, change := range [][2]string{{"schema_version: 1", "schema_version: 2"}, {"schema_version: 1", "schema_version: \"1\""}, {"stygian", "titan"}, {`"stygian"`, "7"}} {
		doc, err := markdown.Decode(format.Source{Data: []byte(strings.Replace(message, change[0], change[1], 1))})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := zeus.Entries(doc); !errors.Is(err, domarkx.ErrUnsupported) {
			t.Errorf("%q: %v, expected ErrUnsupported", change, err)
		}
	}
}
