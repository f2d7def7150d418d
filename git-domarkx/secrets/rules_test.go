package secrets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// TestForms checks a secret of each form, also in the middle of a JSON string and in a file; and that one that is too short is none.
func TestForms(t *testing.T) {
	lowNum := lower + digit
	base32 := "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	for i, secret := range []string{
		"AKIA" + fake(base32, 1, 16), "ghp_" + fake(alnum, 2, 36), "gho_" + fake(alnum, 3, 36), "ghs_" + fake(alnum, 4, 36), "github_pat_" + fake(alnum, 5, 22) + "_" + fake(alnum, 6, 59),
		"glpat-" + fake(alnum, 7, 20), "glrt-" + fake(alnum, 8, 20), "xoxb-" + fake(digit, 9, 12) + "-" + fake(digit, 10, 12) + "-" + fake(alnum, 11, 24), "xapp-1-" + fake(upper+digit, 12, 11) + "-" + fake(digit, 13, 13) + "-" + fake(lowNum, 14, 64),
		"sk-ant-api03-" + fake(alnum, 15, 93) + "AA", "sk-ant-oat01-" + fake(alnum, 16, 86), "sk-proj-" + fake(alnum, 17, 120), "sk-" + fake(alnum, 18, 48), "sk-or-v1-" + fake(hexes, 19, 64), "gsk_" + fake(alnum, 20, 52),
		"hf_" + fake(alnum, 21, 34), "r8_" + fake(alnum, 22, 37), "xai-" + fake(alnum, 23, 80), "pplx-" + fake(alnum, 24, 48), "AIza" + fake(alnum, 25, 35), "GOCSPX-" + fake(alnum, 26, 28), "ya29." + fake(alnum, 27, 120), "1//0" + fake(alnum, 28, 60),
		"sk_live_" + fake(alnum, 29, 24), "rk_test_" + fake(alnum, 30, 24), "whsec_" + fake(alnum, 31, 32), "SG." + fake(alnum, 32, 22) + "." + fake(alnum, 33, 43), "SK" + fake(hexes, 34, 32), "key-" + fake(hexes, 35, 32), fake(hexes, 36, 32) + "-us12",
		"npm_" + fake(alnum, 37, 36), "pypi-AgEIcHlwaS5vcmc" + fake(alnum, 38, 80), "rubygems_" + fake(hexes, 39, 48), "dckr_pat_" + fake(alnum, 40, 27), "hvs." + fake(alnum, 41, 95), "dop_v1_" + fake(hexes, 42, 64), "dapi" + fake(hexes, 43, 32),
		"glsa_" + fake(alnum, 44, 32) + "_" + fake(hexes, 45, 8), "lin_api_" + fake(alnum, 46, 40), "ntn_" + fake(digit, 47, 11) + fake(alnum, 48, 35), "figd_" + fake(alnum, 49, 40), "PMAK-" + fake(hexes, 50, 24) + "-" + fake(hexes, 51, 34), "shpat_" + fake(hexes, 52, 32),
		"sbp_" + fake(hexes, 53, 40), "sb_secret_" + fake(alnum, 54, 31), "nfp_" + fake(alnum, 55, 36), "tskey-auth-" + fake(alnum, 56, 16) + "-" + fake(alnum, 57, 32), "pscale_tkn_" + fake(alnum, 58, 43), "sntryu_" + fake(hexes, 59, 64), "phx_" + fake(alnum, 60, 43),
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + fake(alnum, 61, 43), "AGE-SECRET-KEY-1" + fake("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 62, 58), fake(digit, 63, 9) + ":AA" + fake(alnum, 64, 33), "dp.st.prd." + fake(alnum, 65, 42), "lsv2_pt_" + fake(hexes, 66, 32) + "_" + fake(hexes, 67, 10),
		"-----BEGIN RSA PRIVATE KEY-----\n" + fake(alnum, 68, 64) + "\n" + fake(alnum, 69, 64) + "\n-----END RSA PRIVATE KEY-----",
	} {
		text := "It is " + secret + " for now."
		scanner := secrets.New(nil, nil)
		found := scanner.Text([]byte(text))
		if secretsIn(text, found) != secret {
			t.Errorf("secret %d: found %q, expected %q", i, secretsIn(text, found), secret)
			continue
		}
		quoted := strings.ReplaceAll(secret, "\n", `\n`)
		line := fmt.Sprintf(`{"uuid":"%s","message":{"content":[{"type":"text","text":"a \"b\" %s c"}]}}`+"\n", fake(hexes, i, 32), quoted)
		in := scanner.File("", []byte(line))
		if secretsIn(line, in) != quoted {
			t.Errorf("secret %d in JSON: found %q, expected %q", i, secretsIn(line, in), quoted)
		} else if in[0].Fingerprint != found[0].Fingerprint {
			t.Errorf("secret %d: the fingerprint in JSON is another one", i)
		}
		short := secret[:min(len(secret), 12)]
		if rest := scanner.Text([]byte("It is " + short + " for now.")); len(rest) > 0 {
			t.Errorf("secret %d: found %q of which the end is missing", i, short)
		}
		if shown := strings.TrimRight(found[0].Masked, "*"); len(shown) > 24 || !strings.HasPrefix(secret, shown) {
			t.Errorf("secret %d: shown as %q", i, found[0].Masked)
		}
	}
}

// TestIDs checks that 10,000 ids, digests, signatures and encoded data are not secrets: as values of members, in prose, in logs and in code.
func TestIDs(t *testing.T) {
	scanner := secrets.New(nil, nil)
	wrong := map[string]int{}
	count, rounds := 0, 200
	if testing.Short() {
		rounds = 40
	}
	for i := range rounds {
		uuid := fmt.Sprintf("%s-%s-4%s-a%s-%s", fake(hexes, i, 8), fake(hexes, i+1, 4), fake(hexes, i+2, 3), fake(hexes, i+3, 3), fake(hexes, i+4, 12))
		base := fake(alnum+"+/", i, 600)
		for _, c := range []struct{ name, value string }{
			{"id", "toolu_01" + fake(alnum, i, 22)}, {"tool_call_id", "call_" + fake(alnum, i, 24)}, {"requestId", "req_011" + fake(alnum, i, 21)}, {"cacheKey", fake(alnum, i, 32)}, {"api_request_key", fake(alnum, i, 40)},
			{"session_key", uuid}, {"sha256", fake(hexes, i, 64)}, {"signature", base}, {"encrypted_content", "gAAAAA" + base}, {"etag", fake(hexes, i, 32)},
			{"commit", fake(hexes, i, 40)}, {"integrity", "sha512-" + fake(alnum+"+/", i, 86) + "=="}, {"prompt_cache_key", uuid}, {"nextPageToken", fake(alnum, i, 60)}, {"idempotency_key", fake(alnum, i, 30)},
		} {
			for form, text := range map[string]string{
				"JSON": fmt.Sprintf(`{"type":"x","%s":"%s"}`, c.name, c.value), "indented": fmt.Sprintf("out:\n  \"%s\": \"%s\",\n", c.name, c.value),
				"assignment": fmt.Sprintf("%s=%s\n", c.name, c.value), "log": fmt.Sprintf("level=info %s: %s done", c.name, c.value), "code": fmt.Sprintf("%s := %q", c.name, c.value),
			} {
				count++
				if found := scanner.File("", []byte(text)); len(found) > 0 {
					wrong[c.name+" in "+form+": "+found[0].Rule]++
				}
			}
		}
	}
	for what, n := range wrong {
		t.Errorf("%s: %d of %d", what, n, rounds)
	}
	t.Logf("%d ids, digests, signatures and encoded data: %d findings", count, len(wrong))
}

// TestParseRules checks that rules of a repository are refused if they could do harm.
func TestParseRules(t *testing.T) {
	rule := func(regex, more string) string {
		return fmt.Sprintf("[[rules]]\nid = \"a\"\nregex = '''%s'''\nkeywords = [\"abc\"]\n%s\n", regex, more)
	}
	for name, c := range map[string]struct {
		text string
		err  error
	}{
		"valid":            {rule(`abc[0-9]{8}`, ""), nil},
		"nested repeats":   {rule(`abc(a+)+$`, ""), nil},
		"no TOML":          {"[[rules", domarkx.ErrInvalid},
		"too large":        {strings.Repeat("#", secrets.MaxRules+1), domarkx.ErrInvalid},
		"extends":          {"[extend]\npath = \"/etc/passwd\"\n", domarkx.ErrUnsupported},
		"too many":         {strings.Repeat(rule(`abc1`, ""), 201), domarkx.ErrInvalid},
		"no keyword":       {"[[rules]]\nid = \"a\"\nregex = '''x'''\n", domarkx.ErrInvalid},
		"short keyword":    {"[[rules]]\nid = \"a\"\nregex = '''x'''\nkeywords = [\"x\"]\n", domarkx.ErrInvalid},
		"no id":            {"[[rules]]\nregex = '''x'''\nkeywords = [\"xxx\"]\n", domarkx.ErrInvalid},
		"id with a bell":   {"[[rules]]\nid = \"a\\u0007\"\nregex = '''x'''\nkeywords = [\"xxx\"]\n", domarkx.ErrInvalid},
		"bad regex":        {rule(`abc(`, ""), domarkx.ErrInvalid},
		"backreference":    {rule(`(abc)\1`, ""), domarkx.ErrInvalid},
		"empty matches":    {rule(`(abc)*`, ""), domarkx.ErrInvalid},
		"huge repeats":     {rule(`abc(.{1000}){1000}`, ""), domarkx.ErrInvalid},
		"huge together":    {strings.Repeat(rule(`abc[a-z]{1000}`, ""), 50), domarkx.ErrInvalid},
		"long regex":       {rule("abc"+strings.Repeat("x", 3000), ""), domarkx.ErrInvalid},
		"missing group":    {rule(`abc`, "secretGroup = 3"), domarkx.ErrInvalid},
		"path":             {rule(`abc`, "path = '''x'''"), domarkx.ErrUnsupported},
		"bad allowlist":    {rule(`abc1`, "[[rules.allowlists]]\nregexes = ['''(''']"), nil},
		"list of nonsense": {"rules = 3\n", domarkx.ErrInvalid},
		"long keywords":    {"[[rules]]\nid = \"a\"\nregex = '''x'''\nkeywords = [" + strings.Repeat("\""+strings.Repeat("Ⱥ", 50)+"\",", 500) + "]\n", domarkx.ErrInvalid}, // of 3 bytes in lower case
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := secrets.ParseRules([]byte(c.text), false); !errors.Is(err, c.err) {
				t.Errorf("error %v, expected %v", err, c.err)
			}
		})
	}
	if _, err := secrets.ParseRules([]byte(rule(`abc1`, "[[rules.allowlists]]\nregexes = ['''(''']")), true); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("an invalid allowlist that counts: error %v", err)
	}
}

// TestManyKeywords checks that as many keywords as a file of rules can have are found, beside the built-in ones.
func TestManyKeywords(t *testing.T) {
	var words strings.Builder
	for i := range 590 {
		fmt.Fprintf(&words, "%q,", fake(lower, i, 100))
	}
	extra, err := secrets.ParseRules([]byte("[[rules]]\nid = \"a\"\nregex = '''=([0-9]{9})'''\nkeywords = ["+words.String()+"]\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	scanner := secrets.New(nil, extra)
	for i := range 590 {
		text := fmt.Sprintf("%s=%09d", fake(lower, i, 100), i)
		if found := scanner.Text([]byte(text)); secretsIn(text, found) != fmt.Sprintf("%09d", i) {
			t.Errorf("keyword %d: found %q", i, secretsIn(text, found))
		}
	}
	if token := "ghp_" + fake(alnum, 2, 36); secretsIn(token, scanner.Text([]byte(token))) != token {
		t.Error("a built-in rule does not count")
	}
}

// TestAddedRulesAreBounded checks that the slowest rules do not stop a scan, and that allowlists count only if asked for.
func TestAddedRulesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "[[rules]]\nid = \"r%d\"\nregex = '''(?:a.*b|a+)+x?(?:a|aa|aaa)+$|a'''\nkeywords = [\"aaa\"]\n", i)
	}
	rules, err := secrets.ParseRules([]byte(b.String()), false)
	if err != nil {
		t.Fatal(err)
	}
	size := 20_000
	if testing.Short() {
		size = 2_000
	}
	text := []byte(strings.Repeat("a", size) + " ghp_" + fake(alnum, 1, 36))
	began := time.Now()
	found := secrets.New(nil, rules).Text(text)
	if len(found) == 0 || found[len(found)-1].Rule != "github-pat" {
		t.Errorf("the built-in rules found %v", len(found))
	}
	if took := time.Since(began); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
	allow := []byte("[allowlist]\nregexes = ['''ghp_''']\n")
	for counts, want := range map[bool]int{true: 0, false: 1} {
		rules, err := secrets.ParseRules(allow, counts)
		if err != nil {
			t.Fatal(err)
		}
		if found := secrets.New(nil, rules).Text([]byte("ghp_" + fake(alnum, 1, 36))); len(found) != want {
			t.Errorf("allowlists count %t: %d findings, expected %d", counts, len(found), want)
		}
	}
}
