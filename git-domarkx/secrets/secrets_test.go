package secrets_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// fake returns n characters that look random; the same for the same seed.
func fake(alphabet string, seed, n int) string {
	var b strings.Builder
	state := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for range n {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		b.WriteByte(alphabet[state%uint64(len(alphabet))])
	}
	return b.String()
}

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower = "abcdefghijklmnopqrstuvwxyz"
	digit = "0123456789"
	hexes = "0123456789abcdef"
	alnum = upper + lower + digit
)

func secretsIn(text string, found []secrets.Finding) string {
	var list []string
	for _, f := range found {
		list = append(list, text[f.Start:f.End])
	}
	return strings.Join(list, " | ")
}

// TestText checks secrets in texts, and texts without any.
func TestText(t *testing.T) {
	ghp := "ghp_" + fake(alnum, 1, 36)
	aws := "AKIA" + fake("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 2, 16)
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + fake(alnum, 3, 43)
	for name, c := range map[string]struct{ text, want string }{
		"github token":          {"the token " + ghp + " works", ghp},
		"aws key":               {"key: " + aws + ".", aws},
		"web token":             {"set-header " + jwt, jwt},
		"split over lines":      {"token:\n  " + ghp[:20] + "\n  " + ghp[20:] + "\n", ghp[:20] + "\n  " + ghp[20:]},
		"split literal":         {`t := "` + aws[:11] + "\" +\n\t\"" + aws[11:] + `"`, aws[:11] + "\" +\n\t\"" + aws[11:]},
		"environment":           {"DB_PASSWORD=hunter2hunter2\n", "hunter2hunter2"},
		"exported":              {"export API_TOKEN='a8Sd7f6g5h4j3'\n", "a8Sd7f6g5h4j3"},
		"url":                   {"psql postgres://admin:pw@db.internal/app", "pw"},
		"redis url":             {"redis://:s3cr3tpw@cache:6379", "s3cr3tpw"},
		"bearer":                {"curl -H 'Authorization: Bearer 8d7f6a5s4d3f2g1h'", "8d7f6a5s4d3f2g1h"},
		"basic":                 {"Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46aHVudGVyMg=="},
		"yaml":                  {"db:\n  password: hunter2!x\n", "hunter2!x"},
		"quoted":                {`conf = {"password": "hunter2x"}`, "hunter2x"},
		"go":                    {`password := "tr0ub4dor&3"`, "tr0ub4dor&3"},
		"typescript":            {`const password: string = "tr0ub4dor&3"`, "tr0ub4dor&3"},
		"xml":                   {"<password>tr0ub4dor3</password>", "tr0ub4dor3"},
		"option":                {"tool --password tr0ub4dor3 -v", "tr0ub4dor3"},
		"prose":                 {"the root password is tr0ub4dor3, keep it", "tr0ub4dor3"},
		"kubernetes":            {"- name: DB_PASSWORD\n  value: hunter2hunter2\n", "hunter2hunter2"},
		"curl user":             {"curl -u admin:hunter2x https://host/x", "hunter2x"},
		"netrc":                 {"machine example.org login me password hunter2x\n", "hunter2x"},
		"query":                 {"GET /x?a=1&access_token=8d7f6a5s4d3f2g1h&b=2", "8d7f6a5s4d3f2g1h"},
		"jdbc":                  {"jdbc:mysql://db/app?user=me&password=hunter2x&ssl=1", "hunter2x"},
		"prose about passwords": {"The password must be at least 8 characters. Reset the password: see section 4.", ""},
		"code":                  {"password := os.Getenv(\"DB_PASSWORD\")\ntoken = user.getToken()\nif password == \"\" {", ""},
		"types":                 {"interface A { password: string; token: AccessToken2; secret: Buffer }", ""},
		"placeholder":           {"DB_PASSWORD=changeme\nTOKEN=<your-token>\nAPI_KEY=${API_KEY}\nSECRET=xxxxxxxxxxxx", ""},
		"url without password":  {"https://example.org:8080/a@b git@github.com:a/b ssh://git@host/x", ""},
		"url placeholder":       {"postgres://user:password@host/db postgres://$USER:$PASS@host mysql://u:{pw}@h", ""},
		"uuid":                  {"session_key 0b5cbb02-7b5e-4d2a-9d4e-0e0e2f4a1b2c, session_key: 0b5cbb02-7b5e-4d2a-9d4e-0e0e2f4a1b2c", ""},
		"digest":                {"cache key: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", ""},
		"names of secrets":      {"m := map[string]string{\"encryptionKey\": \"EncapsulationKey1024\", \"server.key\": \"localhost.key.b64\"}\nuse(\"reveal_token\", \"/v1/t/{id}/reveal_token2\")\nconst apiKey = \"MY_API_KEY_2\"", ""},
		"tokens of a model":     {`{"max_tokens": 4096, "next_token": "a8Sd7f6g5h4j3k2l1", "input_tokens": 12}`, ""},
		"working directory":     {"PWD=/home/me/project7\nOLDPWD=/tmp/x1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := secretsIn(c.text, secrets.New(nil, nil).Text([]byte(c.text)))
			if got != c.want {
				t.Errorf("found %q, expected %q", got, c.want)
			}
		})
	}
}

// TestJSON checks secrets in values, with the bytes that they have in the literal.
func TestJSON(t *testing.T) {
	ghp := "ghp_" + fake(alnum, 5, 36)
	for name, c := range map[string]struct{ text, want string }{
		"text":           {`{"type":"text","text":"use ` + ghp + ` now"}`, ghp},
		"named":          {`{"arguments":{"user":"me","password":"hunter2x"}}`, "hunter2x"},
		"nested":         {`{"arguments":"{\"cmd\":\"login\",\"password\":\"hunter2x\"}"}`, "hunter2x"},
		"escapes":        {`{"text":"caf\u00e9\n\tDB_PASSWORD=hunter2\"x\nnext"}`, `hunter2`},
		"escaped secret": {`{"password":"hunter2\"\\x"}`, `hunter2\"\\x`},
		"environment":    {`{"env":[{"name":"DB_PASSWORD","value":"hunter2hunter2"}]}`, "hunter2hunter2"},
		"arguments":      {`["tool","--password","hunter2x"]`, "hunter2x"},
		"header":         {`{"headers":{"Authorization":"Bearer 8d7f6a5s4d3f2g1h"}}`, "8d7f6a5s4d3f2g1h"},
		"ids":            {`{"cacheKey":"a8Sd7f6g5h4j3k2l1Qw","api_request_key":"a8Sd7f6g5h4j3k2l1Qw","id":"toolu_01A8Sd7f6g5h4j3k2l1Qw","signature":"ErcBCkgIARABGAI` + fake(alnum, 9, 400) + `"}`, ""},
		"damaged line":   {"{\"text\":\"a\"}\n{\"text\":\"" + ghp + "\n", ghp},
	} {
		t.Run(name, func(t *testing.T) {
			got := secretsIn(c.text, secrets.New(nil, nil).File("", []byte(c.text)))
			if got != c.want {
				t.Errorf("found %q, expected %q", got, c.want)
			}
		})
	}
}
