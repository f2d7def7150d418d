package secrets_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// accessKey is a secret with a form of its own; no such text is in the source.
const accessKey = "AKIA" + "Q3EGR6ZXCVBTNWPE"

func utf16Of(text string, order binary.AppendByteOrder, mark bool) string {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// written returns the output of write.
func written(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compressed(t *testing.T, text string, open func(w io.Writer) io.WriteCloser) string {
	t.Helper()
	return written(t, func(w io.Writer) error {
		c := open(w)
		if _, err := io.WriteString(c, text); err != nil {
			return err
		}
		return c.Close()
	})
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	return compressed(t, text, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func tarred(t *testing.T, name, text string) string {
	t.Helper()
	return written(t, func(w io.Writer) error {
		archive := tar.NewWriter(w)
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return err
		}
		return archive.Close()
	})
}

func zipped(t *testing.T, name, text string) string {
	t.Helper()
	return written(t, func(w io.Writer) error {
		archive := zip.NewWriter(w)
		f, err := archive.Create(name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, text); err != nil {
			return err
		}
		return archive.Close()
	})
}

// ways returns files that each have the access key in a different way.
func ways(t *testing.T) map[string]string {
	t.Helper()
	line := "the key is " + accessKey + " and no other\n"
	long := strings.Repeat("nothing here, only words of prose. ", 40)
	encoded := base64.StdEncoding.EncodeToString([]byte(long + line + long))
	var wrapped strings.Builder
	for i := 0; i < len(encoded); i += 76 {
		wrapped.WriteString(encoded[i:min(i+76, len(encoded))] + "\r\n")
	}
	var references strings.Builder
	for _, c := range accessKey {
		fmt.Fprintf(&references, "&#%d;", c)
	}
	page := "BT [(" + accessKey[:5] + ")-20(" + accessKey[5:] + ")] TJ ET\n"
	packed := compressed(t, page, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	png := "\x89PNG\r\n\x1a\n" + "\x00\x00\x00\x00IEND\xaeB`\x82"
	return map[string]string{
		"text":                          line,
		"the name of a JSON member":     `{"a": {"` + accessKey + `": true}}`,
		"a JSON member with an escape":  `{"\u0041` + accessKey[1:] + `": 1}`,
		"UTF-16, little endian":         utf16Of(line, binary.LittleEndian, true),
		"UTF-16, big endian":            utf16Of(line, binary.BigEndian, true),
		"UTF-16 without a mark":         utf16Of(line, binary.LittleEndian, false),
		"UTF-16, big, without a mark":   utf16Of(line, binary.BigEndian, false),
		"JSON in UTF-16":                utf16Of(`{"k": "`+accessKey+`"}`, binary.LittleEndian, true),
		"gzip":                          gzipped(t, line),
		"gzip twice":                    gzipped(t, gzipped(t, line)),
		"tar":                           tarred(t, "a/b.txt", line),
		"tar.gz":                        gzipped(t, tarred(t, "a/b.txt", line)),
		"a name in a tar.gz":            gzipped(t, tarred(t, "a/"+accessKey+".txt", "x")),
		"zip":                           zipped(t, "word/document.xml", "<t>"+line+"</t>"),
		"zip in tar.gz":                 gzipped(t, tarred(t, "a.zip", zipped(t, "b", line))),
		"a name in a zip":               zipped(t, accessKey+".txt", "x"),
		"zstd":                          compressed(t, line, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }), //nolint:errcheck // default options
		"PDF":                           "%PDF-1.4\n1 0 obj <</Length 5/Filter/FlateDecode>>\nstream\n" + packed + "\nendstream\nendobj\n",
		"PDF, not compressed":           "%PDF-1.4\n(" + accessKey + ")\n",
		"base64":                        "run this: " + base64.StdEncoding.EncodeToString([]byte(accessKey)) + "\n",
		"base64 for URLs":               "https://example.org/?q=" + base64.RawURLEncoding.EncodeToString([]byte("??>"+line)),
		"base64 behind a path":          "/x/y/" + base64.StdEncoding.EncodeToString([]byte(line)),
		"base64 in lines":               wrapped.String(),
		"base64 of UTF-16":              "powershell -EncodedCommand " + base64.StdEncoding.EncodeToString([]byte(utf16Of("$k = '"+accessKey+"'", binary.LittleEndian, false))),
		"a file in JSON":                `{"data": "` + base64.StdEncoding.EncodeToString([]byte(line+long+long+long)) + `"}`,
		"an archive in JSON":            `{"data": "` + base64.StdEncoding.EncodeToString([]byte(gzipped(t, line+long+long))) + `"}`,
		"character references":          "<p>" + references.String() + "</p>",
		"colour codes":                  "key: " + accessKey[:4] + "\x1b[1;31m" + accessKey[4:9] + "\x1b[0m" + accessKey[9:] + "\n",
		"colour codes in JSON":          `{"out": "` + accessKey[:4] + `\u001b[31m` + accessKey[4:] + `\u001b[m"}`,
		"after the end of a picture":    png + "\x00" + line,
		"behind the pixels of a photo":  "\xff\xd8\xff\xda\x00\x02\x01\x02\xff\xd9" + line,
		"an archive with a cut end":     gzipped(t, line+noise(20_000))[:9000],
		"the end of an archive's pages": tarred(t, "large", strings.Repeat(long, 1000)+line),
	}
}

// noise returns random bytes.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// TestWays checks that a secret is found in whatever way a file has it, by one fingerprint.
func TestWays(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	want := s.Text([]byte(accessKey))[0].Fingerprint
	for name, content := range ways(t) {
		t.Run(name, func(t *testing.T) {
			found := s.File("f", []byte(content))
			if len(found) != 1 || found[0].Fingerprint != want {
				t.Errorf("found %+v, expected one with fingerprint %s", found, want)
			}
			for _, f := range found {
				if f.Start < 0 || f.End > len(content) || f.Start > f.End {
					t.Errorf("found at %d to %d of %d", f.Start, f.End, len(content))
				}
			}
		})
	}
}

// TestPicture checks that a picture is searched as bytes: a value that only its name makes a secret does not count.
func TestPicture(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	for text, want := range map[string]int{"Comment\x00" + accessKey: 1, "Comment\x00password=hunter4hunter4": 0} {
		if found := s.File("a.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00tEXt"+text)); len(found) != want {
			t.Errorf("%q: found %+v", text, found)
		}
	}
}

// TestNoWays checks that random data is not reported.
func TestNoWays(t *testing.T) {
	s := secrets.New([]byte("k"), nil)
	for name, content := range map[string]string{
		"base64":        base64.StdEncoding.EncodeToString([]byte(noise(200_000))),
		"lines":         strings.Join(strings.SplitAfter(base64.StdEncoding.EncodeToString([]byte(noise(200_000))), "A"), "\n"),
		"data":          `{"data": "` + base64.StdEncoding.EncodeToString([]byte(noise(200_000))) + `"}`,
		"gzip":          gzipped(t, noise(200_000)),
		"damaged gzip":  "\x1f\x8b\x08" + noise(10_000),
		"damaged zip":   "PK\x03\x04" + noise(10_000),
		"damaged PDF":   "%PDF-1.7 stream\n" + noise(10_000),
		"encrypted zip": strings.Replace(zipped(t, "a", "hello"), "PK\x01\x02\x14\x00\x14\x00\x08", "PK\x01\x02\x14\x00\x14\x00\x09", 1),
		"UTF-16":        "\xff\xfe" + noise(10_000),
		"references":    "&#65;&#x;&#;&#99999999;&amp&#66",
		"sequences":     "\x1b[\x1b[31\x1b[31;31;31\x1b]0;title\x07",
	} {
		if found := s.File("f", []byte(content)); len(found) > 0 {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// TestArchiveIsBounded checks that an archive is reported if it decompresses to too many bytes or is nested too deep.
func TestArchiveIsBounded(t *testing.T) {
	large := gzipped(t, strings.Repeat("a", 2<<20))
	for limit, want := range map[int64]error{4 << 20: nil, 1 << 20: domarkx.ErrUnsupported} {
		size := 0
		err := secrets.UnpackWithin(limit, []byte(large), func(_ string, part []byte) { size += len(part) })
		if !errors.Is(err, want) || size > int(limit)+1 {
			t.Errorf("limit %d: %v after %d bytes", limit, err, size)
		}
	}
	deep := "deep"
	for range 5 {
		deep = gzipped(t, deep)
	}
	if found := secrets.New(nil, nil).File("", []byte(deep)); len(found) != 1 || found[0].Rule != secrets.NotReadable {
		t.Errorf("found %+v, expected one that is not readable", found)
	}
}
