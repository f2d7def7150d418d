package secrets_test

import (
	"testing"
	"unicode/utf8"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// checkFindings requires findings in order, without overlaps, inside of the text, that show nothing but a prefix.
func checkFindings(t *testing.T, text []byte, found []secrets.Finding) {
	t.Helper()
	end := 0
	for _, f := range found {
		if f.Inside != "" { // its place is in a part
			continue
		}
		if f.Start < end || f.End <= f.Start || f.End > len(text) {
			t.Fatalf("finding %+v after %d in a text of %d bytes", f, end, len(text))
		}
		end = f.End
		if f.Rule == "" || len(f.Fingerprint) != 20 || !utf8.ValidString(f.Masked) || len(f.Masked) > 4+max(20, (f.End-f.Start)/2) {
			t.Fatalf("finding %+v", f)
		}
	}
}

// FuzzText scans any text as text, as JSON, as a file and as a value.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "    ", "password=", "\"", "{\"a\":\"\\u12", "://:@x", "-----BEGIN PRIVATE KEY-----", "ghp_" + fake(alnum, 1, 20) + "\n" + fake(alnum, 2, 16),
		`{"password":"a\"b\\c\u00e9\ud83d\ude00xyz1","x":["--token","abc123def456"]}`,
		"curl -u a:b", "machine a login b password c", "Authorization: Basic YTpi", "Cookie: a=b; session=" + fake(alnum, 3, 30)} {
		f.Add([]byte(seed))
	}
	for _, seed := range []string{"\x1f\x8b\x08\x00", "PK\x03\x04", "%PDF-1 stream\nx\x9c", "\xff\xfea\x00\x00\xd8", "a\x00b\x00c\x00", "&#65;&#x41;", "\x1b[31mAKIA", "QUtJQVEzRUdSNlpYQ1ZCVE5XUEU="} {
		f.Add([]byte(seed))
	}
	scanner := secrets.New([]byte("key"), nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		checkFindings(t, text, scanner.Text(text))
		checkFindings(t, text, scanner.Record(text))
		checkFindings(t, text, scanner.File("a/b.json", text))
	})
}

// FuzzRules parses any rules, and scans with those that are valid.
func FuzzRules(f *testing.F) {
	f.Add([]byte("[[rules]]\nid = \"a\"\nregex = '''(a+)+$'''\nkeywords = [\"aaa\"]\n"))
	f.Add([]byte("[allowlist]\nregexes = ['''.*''']\n[[rules]]\nid = \"a\"\nregex = '''x{3}'''\nsecretGroup = 1\nkeywords = [\"xxx\"]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := secrets.ParseRules(data, true)
		if err != nil {
			return
		}
		text := []byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa xxx password=hunter2hunter2")
		checkFindings(t, text, secrets.New(nil, rules).Text(text))
	})
}
