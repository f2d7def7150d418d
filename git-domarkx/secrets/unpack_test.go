package secrets_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// TestInside checks the place that a finding in an archive names, and that each secret is reported once.
func TestInside(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	second := "gh" + "p_" + fake(alnum, 5, 36)
	linked := written(t, func(w io.Writer) error {
		a := tar.NewWriter(w)
		return errors.Join(a.WriteHeader(&tar.Header{Name: "link", Linkname: "to/" + accessKey, Typeflag: tar.TypeSymlink}), a.Close())
	})
	attributes := written(t, func(w io.Writer) error {
		a := tar.NewWriter(w)
		return errors.Join(a.WriteHeader(&tar.Header{Name: "a", Format: tar.FormatPAX, PAXRecords: map[string]string{"SCHILY.xattr.user.key": accessKey}}), a.Close())
	})
	commented := written(t, func(w io.Writer) error {
		a := zip.NewWriter(w)
		_, err := a.CreateHeader(&zip.FileHeader{Name: "a", Comment: "by " + accessKey})
		return errors.Join(err, a.Close())
	})
	about := written(t, func(w io.Writer) error {
		a := zip.NewWriter(w)
		_, err := a.Create("a")
		return errors.Join(err, a.SetComment("key "+accessKey), a.Close())
	})
	for name, tt := range map[string]struct {
		content string
		want    []string // the places, in order
	}{
		"nothing":                  {gzipped(t, "nothing"), nil},
		"gzip":                     {gzipped(t, accessKey), []string{"gzip"}},
		"a file in a tar":          {tarred(t, "a/b", accessKey), []string{"tar file a/b"}},
		"a tar in a gzip":          {gzipped(t, tarred(t, "a/b", accessKey)), []string{"gzip, tar file a/b"}},
		"the same secret twice":    {tarred(t, "a", accessKey+"\n"+accessKey+"\n"), []string{"tar file a"}},
		"two secrets":              {tarred(t, "a", accessKey+"\n"+second+"\n"), []string{"tar file a", "tar file a"}},
		"the target of a link":     {linked, []string{"tar file link"}},
		"an attribute":             {attributes, []string{"tar file a"}},
		"the comment of a file":    {commented, []string{"zip file a"}},
		"the comment of a zip":     {about, []string{"zip"}},
		"the name and the content": {zipped(t, accessKey, accessKey), []string{"zip file " + accessKey}},
		"a zip in a zip":           {zipped(t, "a.zip", zipped(t, "b", accessKey)), []string{"zip file a.zip, zip file b"}},
		"text that is no archive":  {"PK\x03\x04", nil},
		"a PDF":                    {"%PDF-1.4\n(" + accessKey + ")\n", []string{"PDF"}},
	} {
		var got []string
		for _, f := range s.File("", []byte(tt.content)) {
			got = append(got, f.Inside)
			if f.Start != 0 || f.End != 0 || strings.Contains(f.Masked, accessKey[4:]) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: found in %q, want %q", name, got, tt.want)
		}
		if len(tt.want) > 0 && !secrets.IsContainer([]byte(tt.content)) {
			t.Errorf("%s is no container", name)
		}
	}
}

// TestDamagedArchives cuts archives anywhere, and changes any byte: nothing panics, and what stands before the damage is found.
func TestDamagedArchives(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	tail := noise(300)
	for name, content := range map[string]string{"tar": tarred(t, "a", accessKey+"\n"+tail), "zip": zipped(t, "a", accessKey+"\n"+tail), "gzip": gzipped(t, accessKey+"\n"+tail)} {
		for cut := 0; cut < len(content); cut += 37 {
			s.File("", []byte(content[:cut]))
			changed := []byte(content)
			changed[cut] ^= 0x55
			s.File("", changed)
		}
		if name == "zip" {
			continue // its directory is at the end
		}
		if found := s.File("", []byte(content[:len(content)-150])); len(found) != 1 {
			t.Errorf("%s without its end: %+v", name, found)
		}
	}
	for what, content := range map[string]string{"a large piece": gzipped(t, strings.Repeat("a", 1<<20)), "many pieces": gzipped(t, strings.Repeat("word ", 1<<19))} {
		err := secrets.UnpackWithin(1<<10, []byte(content), func(string, []byte) {})
		if !errors.Is(err, domarkx.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestUnread checks the finding for what cannot be read: the same for the same content, another one for another content, and
// never that of a secret.
func TestUnread(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	a, b := s.Unread([32]byte{1}), s.Unread([32]byte{2})
	if a.Fingerprint == b.Fingerprint || a != s.Unread([32]byte{1}) || a.Rule != secrets.NotReadable || a.Inside == "" || len(a.Fingerprint) != 20 {
		t.Errorf("%+v and %+v", a, b)
	}
	if other := secrets.New([]byte("another machine"), nil).Unread([32]byte{1}); other.Fingerprint == a.Fingerprint {
		t.Error("two machines have one fingerprint")
	}
}

// TestUTF16 checks that the place of a secret in UTF-16 is the place of its bytes, whatever stands before it.
func TestUTF16(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringMatching(`[a-zA-Zé€😀 .,]{0,20}`).Draw(t, "before") + strings.Repeat(" plain text", 8) + " "
		var order binary.AppendByteOrder = binary.LittleEndian
		if rapid.Bool().Draw(t, "big endian") {
			order = binary.BigEndian
		}
		mark := rapid.Bool().Draw(t, "mark")
		content := utf16Of(before+accessKey+" end", order, mark)
		found := s.File("", []byte(content))
		if len(found) != 1 {
			t.Fatalf("%q: %+v", before, found)
		}
		if got := content[found[0].Start:found[0].End]; got != utf16Of(accessKey, order, false) {
			t.Errorf("%q: the place has %q", before, got)
		}
	})
}

// TestDisguised checks that the place of a disguised secret is all that spells it, so that nothing of it is left when it is replaced.
func TestDisguised(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	want := s.Text([]byte(accessKey))[0].Fingerprint
	encoded := base64.StdEncoding.EncodeToString([]byte("the key is " + accessKey))
	for name, tt := range map[string]struct{ text, place string }{
		"colours around it":   {"key \x1b[31m" + accessKey + "\x1b[0m end", accessKey},
		"colours within it":   {"key " + accessKey[:3] + "\x1b[1;31m" + accessKey[3:] + "\x1b[0m", accessKey[:3] + "\x1b[1;31m" + accessKey[3:]},
		"decimal references":  {"a &#65;" + accessKey[1:] + " b", "&#65;" + accessKey[1:]},
		"hexadecimal ones":    {"a &#x41;" + accessKey[1:] + " b", "&#x41;" + accessKey[1:]},
		"base64":              {"a " + encoded + " b", strings.TrimRight(encoded, "=")},
		"base64, in JSON":     {`{"a": "x ` + encoded + ` y"}`, strings.TrimRight(encoded, "=")},
		"base64 with a slash": {"a/" + encoded, "a/" + strings.TrimRight(encoded, "=")},
	} {
		found := s.File("", []byte(tt.text))
		if len(found) != 1 || found[0].Fingerprint != want {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		if got := tt.text[found[0].Start:found[0].End]; got != tt.place {
			t.Errorf("%s: the place is %q, want %q", name, got, tt.place)
		}
	}
}

// TestUnknownWays lists ways to hide a key that are known not to be found, so that this is a decision: who adds one, moves its
// row to TestWays.
func TestUnknownWays(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	once := base64.StdEncoding.EncodeToString([]byte(accessKey + " is the key"))
	var escapes strings.Builder
	for _, c := range accessKey {
		fmt.Fprintf(&escapes, `\x%02x`, c)
	}
	zero, soft := "\u200b", "\u00ad"
	for name, text := range map[string]string{
		"base64 of base64":           base64.StdEncoding.EncodeToString([]byte(once)),
		"base64 of gzip":             base64.StdEncoding.EncodeToString([]byte(gzipped(t, accessKey+" is the key"))),
		"percent-encoding":           "https://example.org/?q=" + strings.ReplaceAll(url.QueryEscape(accessKey), "K", "%4B"),
		"escapes of a shell":         "printf '" + escapes.String() + "'",
		"an escape in a source text": `s := "\u0041` + accessKey[1:] + `"`,
		"a zero-width space":         accessKey[:8] + zero + accessKey[8:],
		"a soft hyphen":              accessKey[:8] + soft + accessKey[8:],
		"hexadecimal digits":         "<" + hex.EncodeToString([]byte(accessKey)) + ">",
		"a named reference":          "gh" + "p&lowbar;" + fake(alnum, 6, 36),
		"backwards":                  reversed(accessKey),
	} {
		if found := s.File("", []byte(text)); len(found) > 0 {
			t.Errorf("%s is found, and belongs in TestWays: %+v", name, found)
		}
	}
}

func reversed(text string) string {
	b := []byte(text)
	slices.Reverse(b)
	return string(b)
}

// TestInstalled checks which names are of installed and generated files, where only secrets with a form of their own count.
func TestInstalled(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	assigned, form := []byte("password = \"tr0ub4dor&3x\"\n"), []byte("key "+accessKey+"\n")
	for name, want := range map[string]bool{
		"": false, "a.go": false, "src/config.js": false, "node_modules/a/b.js": true, "x/node_modules/a.js": true, "go.sum": true, "package-lock.json": true, "a/yarn.lock": true,
		"vendor/modules.txt": true, "my_node_modules.go": false, "./go.sum": true, "node_modules/../a.go": false, "a.min.js": false, "gitleaks.toml": true,
	} {
		if got := s.Installed(name); got != want {
			t.Errorf("%q: installed %t", name, got)
		}
		if found := s.File(name, assigned); (len(found) == 0) != want {
			t.Errorf("%q: an assignment: %+v", name, found)
		}
		if found := s.File(name, form); len(found) != 1 {
			t.Errorf("%q: a form: %+v", name, found)
		}
	}
}

// TestAllowlists checks the allowlists of added rules: by their regular expressions, stop words and conditions, for their
// own rule or for all.
func TestAllowlists(t *testing.T) {
	rule := func(more string) string {
		return "[[rules]]\nid = \"house\"\nregex = '''(house-[a-z0-9]{8}) in (?:Rome|Paris)'''\nkeywords = [\"house-\"]\n" + more
	}
	for name, tt := range map[string]struct {
		rules string
		found bool
	}{
		"none":                        {rule(""), true},
		"the secret":                  {rule("[[rules.allowlists]]\nregexes = ['''^house-1''']\n"), false},
		"another secret":              {rule("[[rules.allowlists]]\nregexes = ['''^house-2''']\n"), true},
		"the match":                   {rule("[[rules.allowlists]]\nregexTarget = \"match\"\nregexes = ['''Rome$''']\n"), false},
		"the match, not the secret":   {rule("[[rules.allowlists]]\nregexes = ['''Rome$''']\n"), true},
		"the line":                    {rule("[[rules.allowlists]]\nregexTarget = \"line\"\nregexes = ['''^we have''']\n"), false},
		"another line":                {rule("[[rules.allowlists]]\nregexTarget = \"line\"\nregexes = ['''second line''']\n"), true},
		"a stop word":                 {rule("[[rules.allowlists]]\nstopwords = [\"1A\"]\n"), false},
		"another stop word":           {rule("[[rules.allowlists]]\nstopwords = [\"zz\"]\n"), true},
		"either":                      {rule("[[rules.allowlists]]\nregexes = ['''^x''']\nstopwords = [\"1a\"]\n"), false},
		"both":                        {rule("[[rules.allowlists]]\ncondition = \"AND\"\nregexes = ['''^house''']\nstopwords = [\"1a\"]\n"), false},
		"both, of which one is wrong": {rule("[[rules.allowlists]]\ncondition = \"AND\"\nregexes = ['''^x''']\nstopwords = [\"1a\"]\n"), true},
		"both, and a path":            {rule("[[rules.allowlists]]\ncondition = \"AND\"\nregexes = ['''^house''']\npaths = ['''a''']\n"), true},
		"an empty condition":          {rule("[[rules.allowlists]]\ncondition = \"AND\"\n"), true},
		"the former spelling":         {rule("[rules.allowlist]\nregexes = ['''^house-1''']\n"), false},
		"for all rules":               {rule("") + "[[allowlists]]\nregexes = ['''^house-1''']\n", false},
		"for all, as one":             {"[allowlist]\nstopwords = [\"1a\"]\n" + rule(""), false},
		"for all, another":            {"[allowlist]\nstopwords = [\"zz\"]\n" + rule(""), true},
	} {
		for _, count := range []bool{true, false} {
			rules, err := secrets.ParseRules([]byte(tt.rules), count)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			text := "we have house-1a2b3c4d in Rome\nsecond line\n"
			s := secrets.New(nil, rules)
			found := s.Text([]byte(text))
			if (len(found) == 1) != (tt.found || !count) {
				t.Errorf("%s, counting %t: %+v", name, count, found)
			}
			if s.Version() == secrets.New(nil, nil).Version() {
				t.Errorf("%s: the version is that without rules", name)
			}
		}
	}
}

// FuzzUnpack looks for containers that panic, that need more than their limit, or whose error is not one of the two.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("%PDF-1.4 stream\nx\x9cendstream"))
	f.Add([]byte("PK\x03\x04"))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "a", Size: 1}), w.Flush()); err != nil {
		f.Log(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		const limit = 1 << 16
		size := 0
		err := secrets.UnpackWithin(limit, content, func(_ string, part []byte) { size += len(part) })
		if err != nil && !errors.Is(err, domarkx.ErrUnsupported) && !errors.Is(err, domarkx.ErrCorrupt) {
			t.Error(err)
		}
		if size > 64*limit+64*len(content) {
			t.Errorf("%d bytes of %d", size, len(content))
		}
	})
}
