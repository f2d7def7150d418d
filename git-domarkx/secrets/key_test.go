package secrets_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// TestKey checks the names that secrets are assigned to.
func TestKey(t *testing.T) {
	ghp := "ghp_" + fake(alnum, 1, 36)
	scanner := secrets.New([]byte("k"), nil)
	for text, want := range map[string]string{
		"GITHUB_TOKEN=" + ghp:                               "GITHUB_TOKEN",
		"export RELEASE_BOT='" + ghp + "'":                  "RELEASE_BOT",
		"apiKey := \"" + ghp + `"`:                          "apiKey",
		"deploy-token: " + ghp:                              "deploy-token",
		`os.environ["GH_TOKEN"] = "` + ghp + `"`:            "GH_TOKEN",
		"process.env.GH_TOKEN || '" + ghp + "'":             "process.env.GH_TOKEN",
		`{"GH_TOKEN": "` + ghp + `"}`:                       "GH_TOKEN",
		`{"text": "` + ghp + `"}`:                           "",
		`{"text": "a\nGH_TOKEN=` + ghp + `"}`:               "GH_TOKEN",
		`{"text": "{\"GH_TOKEN\": \"` + ghp + `\"}"}`:       "GH_TOKEN",
		"use the token " + ghp:                              "",
		ghp:                                                 "",
		"psql postgres://admin:tr0ub4dor@db.internal/app":   "",
		"Authorization: Bearer 8d7f6a5s4d3f2g1h":            "",
		"DB_PASSWORD=hunter2hunter2":                        "DB_PASSWORD",
		"\n  password:  \"tr0ub4dor&3\"":                    "password",
		"AKIA" + fake(upper, 2, 16) + "_TOKEN=tr0ub4dor3x9": "",
	} {
		found := scanner.File("", []byte(text))
		if len(found) == 0 {
			t.Errorf("%s: no secret", text)
		} else if last := found[len(found)-1]; last.Key != want {
			t.Errorf("%s: assigned to %q, want %q", text, last.Key, want)
		}
	}
}
