// Package corpus_test measures the rules of package secrets with secrets and ids that it makes.
package corpus_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	hexa   = "0123456789abcdef"
	mixed  = lower + upper + digits
)

// A draw makes random texts that are the same in every run.
type draw struct{ *rand.Rand }

func (d draw) text(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(b)
}

func (d draw) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.IntN(256))
	}
	return b
}

func (d draw) uuid() string {
	return d.text(hexa, 8) + "-" + d.text(hexa, 4) + "-4" + d.text(hexa, 3) + "-a" + d.text(hexa, 3) + "-" + d.text(hexa, 12)
}

func (d draw) key(kind string, n int) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind + " KEY", Bytes: d.bytes(n)}))
}

// A kind is a kind of secret. before and after are the text that it needs around it to be one.
type kind struct {
	name   string
	secret func(d draw) string
	before string
	after  string
	block  bool // it has lines, or only makes sense as a whole line
}

// kinds are put together from parts, so that no file here has a text that a host takes for a secret.
var kinds = []kind{
	{name: "AWS access key", secret: func(d draw) string { return "AK" + "IA" + d.text(upper+"234567", 16) }},
	{name: "AWS secret key", secret: func(d draw) string { return d.text(mixed+"+/", 40) }, before: "aws_secret_access_key = "},
	{name: "GitHub token", secret: func(d draw) string { return "gh" + "p_" + d.text(mixed, 36) }},
	{name: "GitHub OAuth token", secret: func(d draw) string { return "gh" + "o_" + d.text(mixed, 36) }},
	{name: "GitHub server token", secret: func(d draw) string { return "gh" + "s_" + d.text(mixed, 36) }},
	{name: "GitHub fine-grained token", secret: func(d draw) string { return "github_" + "pat_" + d.text(mixed, 22) + "_" + d.text(mixed, 59) }},
	{name: "GitLab token", secret: func(d draw) string { return "gl" + "pat-" + d.text(mixed, 20) }},
	{name: "Anthropic key", secret: func(d draw) string { return "sk-" + "ant-api03-" + d.text(mixed+"_-", 93) + "AA" }},
	{name: "OpenAI key", secret: func(d draw) string { return "sk-" + d.text(mixed, 20) + "T3Blbk" + "FJ" + d.text(mixed, 20) }},
	{name: "OpenAI project key", secret: func(d draw) string { return "sk-" + "proj-" + d.text(mixed, 74) + "T3Blbk" + "FJ" + d.text(mixed, 74) }},
	{name: "Slack bot token", secret: func(d draw) string {
		return "xo" + "xb-" + d.text(digits, 12) + "-" + d.text(digits, 12) + "-" + d.text(mixed, 24)
	}},
	{name: "Slack webhook", secret: func(d draw) string {
		return "https://hooks." + "slack.com/services/T" + d.text(upper, 9) + "/B" + d.text(upper, 9) + "/" + d.text(mixed, 24)
	}},
	{name: "Stripe key", secret: func(d draw) string { return "sk_" + "live_" + d.text(mixed, 24) }},
	{name: "SendGrid key", secret: func(d draw) string { return "S" + "G." + d.text(mixed, 22) + "." + d.text(mixed, 43) }},
	{name: "Twilio key", secret: func(d draw) string { return "S" + "K" + d.text(hexa, 32) }, before: "twilio "},
	{name: "Google API key", secret: func(d draw) string { return "AI" + "za" + d.text(mixed+"_-", 35) }},
	{name: "npm token", secret: func(d draw) string { return "np" + "m_" + d.text(lower+digits, 36) }},
	{name: "PyPI token", secret: func(d draw) string { return "pypi-" + "AgEIcHlwaS5vcmc" + d.text(mixed+"_-", 70) }},
	{name: "DigitalOcean token", secret: func(d draw) string { return "dop_" + "v1_" + d.text(hexa, 64) }},
	{name: "Hugging Face token", secret: func(d draw) string { return "hf" + "_" + d.text(lower+upper, 34) }},
	{name: "JSON web token", secret: func(d draw) string {
		head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
		body := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + d.text(digits, 10) + `","name":"` + d.text(lower, 8) + `"}`))
		return head + "." + body + "." + d.text(mixed+"_-", 43)
	}},
	{name: "RSA private key", secret: func(d draw) string { return d.key("RSA PRIVATE", 600) }, block: true},
	{name: "OpenSSH private key", secret: func(d draw) string { return d.key("OPENSSH PRIVATE", 400) }, block: true},
	{name: "EC private key", secret: func(d draw) string { return d.key("EC PRIVATE", 120) }, block: true},
	{name: "PostgreSQL URL", secret: func(d draw) string { return d.text(mixed, 14) }, before: "postgres://admin:", after: "@db.internal:5432/app"},
	{name: "MySQL URL", secret: func(d draw) string { return d.text(mixed, 14) }, before: "mysql://root:", after: "@10.0.0.7/shop"},
	{name: "MongoDB URL", secret: func(d draw) string { return d.text(mixed, 16) }, before: "mongodb+srv://svc:", after: "@cluster0.mongodb.net/x"},
	{name: "Redis URL", secret: func(d draw) string { return d.text(mixed, 20) }, before: "redis://default:", after: "@cache:6379/0"},
	{name: "Basic header", secret: func(d draw) string {
		return base64.StdEncoding.EncodeToString([]byte("user:" + d.text(mixed, 18)))
	}, before: "Authorization: Basic "},
	{name: "Bearer header", secret: func(d draw) string { return d.text(mixed, 40) }, before: "Authorization: Bearer "},
	{name: "password variable", secret: func(d draw) string { return d.text(mixed, 16) }, before: "DB_PASSWORD="},
	{name: "secret variable", secret: func(d draw) string { return d.text(mixed, 32) }, before: "CLIENT_SECRET="},
	{name: "API key variable", secret: func(d draw) string { return d.text(mixed, 32) }, before: "api_key = \"", after: "\""},
	{name: "Telegram token", secret: func(d draw) string { return d.text("123456789", 1) + d.text(digits, 8) + ":A" + d.text(mixed+"_-", 34) }, before: "telegram "},
	{name: "Shopify token", secret: func(d draw) string { return "shp" + "at_" + d.text(hexa, 32) }},
	{name: "Linear key", secret: func(d draw) string { return "lin_" + "api_" + d.text(lower+digits, 40) }},
	{name: "age key", secret: func(d draw) string {
		return "AGE-SECRET-" + "KEY-1" + d.text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
	}},
	{name: "Supabase key", secret: func(d draw) string { return "sb_" + "secret_" + d.text(mixed, 31) }},
	{name: "Vault token", secret: func(d draw) string { return "hv" + "s." + d.text(mixed, 95) }},
	{name: "Grafana token", secret: func(d draw) string { return "gl" + "sa_" + d.text(mixed, 32) + "_" + d.text(hexa, 8) }},
}

// A place is where a secret stands: in prose, code, arguments, output, a URL, or split over lines.
type place struct {
	name string
	put  func(s string) []byte
	scan func(s *secrets.Scanner, data []byte) []secrets.Finding
}

var places = []place{
	{"prose", func(s string) []byte {
		return []byte("Here it is, please keep it for yourself: " + s + " and then go on.\n")
	}, asText},
	{"code", func(s string) []byte {
		return []byte("func main() {\n\tv := load(`" + s + "`)\n\tuse(v)\n}\n")
	}, asText},
	{"arguments", func(s string) []byte { return jsonOf(map[string]any{"command": "run with " + s, "timeout": 30}) }, asJSON},
	{"output", func(s string) []byte {
		return jsonOf(map[string]any{"type": "tool_result", "content": []any{map[string]any{"type": "text", "text": "$ env\nHOME=/root\n" + s + "\nLANG=C\n"}}})
	}, asJSON},
	{"URL", func(s string) []byte { return []byte("GET https://api.example.net/v1/items?page=2&token=" + s + "\n") }, asText},
	{"split", func(s string) []byte {
		return []byte("key := \"" + s[:len(s)/2] + "\" +\n\t\"" + s[len(s)/2:] + "\"\n")
	}, asText},
}

func asText(s *secrets.Scanner, data []byte) []secrets.Finding { return s.Text(data) }
func asJSON(s *secrets.Scanner, data []byte) []secrets.Finding { return s.File("", data) }

func jsonOf(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// fits reports whether a kind can stand in a place: what has lines or needs a name before it is not split or put into a URL.
func fits(k kind, p place) bool {
	switch p.name {
	case "split", "URL":
		return !k.block && k.before == "" && !strings.HasPrefix(k.name, "Slack webhook")
	}
	return true
}

// TestRecall looks for 200 secrets of 40 kinds in six kinds of places. At least 95 of 100 have to be found.
func TestRecall(t *testing.T) {
	scan := secrets.New([]byte("key"), nil)
	d := draw{rand.New(rand.NewPCG(7, 40))}
	const each = 5
	all, found := 0, 0
	for i, k := range kinds {
		for n := 0; n < each; {
			p := places[(i+n+d.IntN(len(places)))%len(places)]
			if !fits(k, p) {
				continue
			}
			n++
			all++
			secret := k.secret(d)
			data := p.put(k.before + secret + k.after)
			if len(p.scan(scan, data)) > 0 {
				found++
				continue
			}
			t.Logf("missed: %s in %s", k.name, p.name)
		}
	}
	if len(kinds) != 40 || all != 200 {
		t.Fatalf("%d kinds, %d secrets", len(kinds), all)
	}
	t.Logf("recall: %d of %d secrets (%.1f %%)", found, all, 100*float64(found)/float64(all))
	if found*100 < all*95 {
		t.Errorf("%d of %d secrets found, expected 95 %%", found, all)
	}
}

// ids are texts that look random but are not secrets.
var ids = []func(d draw) string{
	func(d draw) string { return d.uuid() },
	func(d draw) string { return "toolu_01" + d.text(mixed, 22) },
	func(d draw) string { return "call_" + d.text(mixed, 24) },
	func(d draw) string { return "msg_01" + d.text(mixed, 22) },
	func(d draw) string { return "req_011C" + d.text(mixed, 20) },
	func(d draw) string { return "chatcmpl-" + d.text(mixed, 29) },
	func(d draw) string { return "rs_" + d.text(hexa, 48) },
	func(d draw) string { return d.text(hexa, 40) },
	func(d draw) string { return d.text(hexa, 64) },
	func(d draw) string { return "sha256:" + d.text(hexa, 64) },
	func(d draw) string { return "h1:" + base64.StdEncoding.EncodeToString(d.bytes(32)) },
	func(d draw) string { return "sha512-" + base64.StdEncoding.EncodeToString(d.bytes(64)) },
	func(d draw) string { return base64.StdEncoding.EncodeToString(d.bytes(256)) },
	func(d draw) string { return base64.RawURLEncoding.EncodeToString(d.bytes(96)) },
	func(d draw) string { return "01" + d.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24) },
	func(d draw) string { return "gAAAAAB" + d.text(mixed+"_-", 300) },
}

// idPlaces are where such texts stand in sessions.
var idPlaces = []place{
	{"id", func(s string) []byte {
		return jsonOf(map[string]any{"id": s, "type": "tool_use", "input": map[string]any{"path": "a.go"}})
	}, asJSON},
	{"signature", func(s string) []byte {
		return jsonOf(map[string]any{"type": "thinking", "thinking": "Let me see.", "signature": s, "encrypted_content": s})
	}, asJSON},
	{"cache key", func(s string) []byte {
		return jsonOf(map[string]any{"cacheKey": s, "session_key": s, "request_id": s, "digest": s})
	}, asJSON},
	{"output", func(s string) []byte {
		return jsonOf(map[string]any{"output": "commit " + s + "\nAuthor: A\n\n    Fix the parser\n"})
	}, asJSON},
	{"prose", func(s string) []byte { return []byte("It is in " + s + ", as the log says.\n") }, asText},
	{"go.sum", func(s string) []byte {
		return []byte("example.org/mod v1.2.3 " + s + "\nexample.org/mod v1.2.3/go.mod " + s + "\n")
	}, asText},
	{"listing", func(s string) []byte { return []byte("100644 blob " + s + "\tREADME.md\n") }, asText},
}

// TestNoFalsePositives scans 10,000 ids, digests, signatures and base64 blobs. None may be taken for a secret.
func TestNoFalsePositives(t *testing.T) {
	scan := secrets.New([]byte("key"), nil)
	d := draw{rand.New(rand.NewPCG(1, 10000))}
	const all = 10_000
	wrong := map[string]int{}
	total := 0
	for i := range all {
		p := idPlaces[i%len(idPlaces)]
		id := ids[i%len(ids)](d)
		for _, f := range p.scan(scan, p.put(id)) {
			total++
			if wrong[f.Rule+" in "+p.name]++; wrong[f.Rule+" in "+p.name] == 1 {
				t.Logf("%s in %s: %.60s", f.Rule, p.name, id)
			}
		}
	}
	t.Logf("false positives: %d of %d ids", total, all)
	if total > 0 {
		t.Error(fmt.Sprint(wrong))
	}
}
