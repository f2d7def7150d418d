package plugins_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestSecretsAreRedacted checks that no error and no warning contains the value of a ${NAME}.
func TestSecretsAreRedacted(t *testing.T) {
	const dsn = "db://admin:pass%2Fword@db.example.org:5432/accounts"
	for _, test := range []struct{ value, config, says, shown string }{
		{"s3cr3t", "${TOKEN}", "bad s3cr3t", "bad ${TOKEN}"},
		{"s3cr3t", "Bearer ${TOKEN}", `header "Bearer s3cr3t"`, `header "Bearer ${TOKEN}"`},
		{`a"b\c`, "${TOKEN}", `{"token":"a\"b\\c"}`, `{"token":"${TOKEN}"}`},
		{"p/q r", "x${TOKEN}", "GET /p%2Fq%20r and /p%2Fq+r", "GET /${TOKEN} and /${TOKEN}"},
		{"p%2Fq", "${TOKEN}", "no user p/q", "no user ${TOKEN}"},
		{dsn, "${TOKEN}", "user=admin host=db.example.org database=accounts: pass/word", "user=${TOKEN} host=${TOKEN} database=${TOKEN}: ${TOKEN}"},
		{"host=h1.example user='adm'", "${TOKEN}", "h1.example does not know adm", "${TOKEN} does not know ${TOKEN}"},
		{"first line\nsecond line", "${TOKEN}", "at \"second line\"", "at \"${TOKEN}\""},
		{"ab", "${TOKEN}", "ab is not about ab.", "${TOKEN} is not about ${TOKEN}."},
		{"", "x${TOKEN}", "nothing", "nothing"},
		{"s3cr3t", "$${TOKEN}", "bad s3cr3t", "bad s3cr3t"},
	} {
		w := newWorld(t)
		w.config.Env = func(string) (string, bool) { return test.value, true }
		w.p.says = test.says
		w.renew(w.store)
		config := jsonvalue.ObjectValue().With("token", jsonvalue.StringValue(test.config)).JSON()
		l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", config)}})
		for _, tool := range []string{"fail", "refuse", "warn"} {
			_, err := l.Call(t.Context(), plugintest.MayCall(l.Name(), "a", domarkx.Call{Tool: tool, Arguments: jsonvalue.ObjectValue()}))
			got := ""
			var e *domarkx.ToolError
			switch {
			case tool == "warn":
				got = strings.Join(w.warns, "")
			case errors.As(err, &e):
				got = e.Message
			}
			if got != test.shown {
				t.Errorf("%q, %s: %q, expected %q", test.value, tool, got, test.shown)
			}
			if err != nil && test.shown != test.says && strings.Contains(fmt.Sprint(err, errors.Unwrap(err)), test.says) {
				t.Errorf("%q, %s: %v", test.value, tool, err)
			}
		}
	}
}

// TestSecretInErrorOfOpen checks that the error of a plugin that cannot open a resource is redacted.
func TestSecretInErrorOfOpen(t *testing.T) {
	w := newWorld(t)
	w.config.Env = func(string) (string, bool) { return "broken", true }
	w.renew(w.store)
	_, err := w.try(t.Context(), "s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"token": "${TOKEN}"}`)}})
	if err == nil || !strings.Contains(err.Error(), "${TOKEN} token") || strings.Contains(err.Error(), "broken") {
		t.Error(err)
	}
}
