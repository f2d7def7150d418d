package domarkx_test

import (
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func TestParseHeaderKeepsEverything(t *testing.T) {
	for _, test := range []struct {
		text   string
		stored bool
	}{
		{`{"version":"1.0","snapshot_id":"i","metadata":{"import_timestamp":"t"},"execution_config":{}}`, false},
		{`{"version":"1.0","metadata":{},"execution_config":{}}`, true},
		{`{"version":"1.0","snapshot_id":"i","metadata":{"source_file":"","import_timestamp":"t","user_metadata":{},"x":1},` +
			`"execution_config":{"engine":"local_shell"},"setup_script":{"language":"python","code":"","y":null},"z":[]}`, false},
		{`{"version":"1.0","snapshot_id":"i","metadata":{"import_timestamp":"t","source_file":null,"user_metadata":null},"execution_config":{},"setup_script":null}`, false},
	} {
		h, err := domarkx.ParseHeader(parse(t, test.text), test.stored)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got := h.Value().JSON(); got != test.text {
			t.Errorf("got  %s\nwant %s", got, test.text)
		}
	}
}

func TestParseHeaderErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`null`, `1:1: the JSON text is null, expected a snapshot object`},
		{`{}`, `1:1: /version: required member "version" is missing, expected a string`},
		{`{"version": "2.0"}`, `1:13: /version: version is "2.0", expected "1.0"`},
		{`{"version": "1.0"}`, `1:1: /snapshot_id: required member "snapshot_id" is missing, expected a string`},
		{`{"version": "1.0", "snapshot_id": ""}`, `1:35: /snapshot_id: is empty, expected a unique identifier`},
		{`{"version": "1.0", "snapshot_id": "i"}`, `1:1: /metadata: required member "metadata" is missing, expected an object`},
		{`{"version": "1.0", "snapshot_id": "i", "metadata": {}}`, `1:52: /metadata/import_timestamp: required member "import_timestamp" is missing, expected a string`},
		{`{"version": "1.0", "snapshot_id": "i", "metadata": {"import_timestamp": ""}}`, `1:73: /metadata/import_timestamp: is empty, expected an ISO 8601 timestamp`},
		{`{"version": "1.0", "snapshot_id": "i", "metadata": {"import_timestamp": "t", "user_metadata": []}}`, `1:95: /metadata/user_metadata: is an array, expected an object`},
		{`{"version": "1.0", "snapshot_id": "i", "metadata": {"import_timestamp": "t"}}`, `1:1: /execution_config: required member "execution_config" is missing, expected an object`},
		{`{"version": "1.0", "snapshot_id": "i", "metadata": {"import_timestamp": "t"}, "execution_config": {}, "setup_script": {"language": "x"}}`, `1:119: /setup_script/code: required member "code" is missing, expected a string`},
	} {
		_, err := domarkx.ParseHeader(parse(t, test.text), false)
		err = domarkx.Locate(err, []byte(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestParseHeaderOfAnotherVersionIsUnsupported(t *testing.T) {
	_, err := domarkx.ParseHeader(parse(t, `{"version": "1.1"}`), false)
	if !errors.Is(err, domarkx.ErrUnsupported) || !errors.Is(domarkx.Locate(err, nil), domarkx.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func parse(t *testing.T, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("parsing %q: %v", text, err)
	}
	return v
}
