package providertest

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// issued holds the items that the server has sent, in order to recognize them when they come back.
type issued struct {
	secret []byte
	items  [][]byte
	n      int // number of answers
}

func newIssued() issued {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	return issued{secret: secret}
}

// sign returns a signature of parts that only this server can create.
func (i *issued) sign(parts ...string) string {
	mac := hmac.New(sha256.New, i.secret)
	for _, p := range parts {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(p), p)
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// keep stores an item in the form in which it must come back.
func (i *issued) keep(item string) { i.items = append(i.items, []byte(item)) }

// changed reports whether an item with the member unknown differs from all items that the server
// has sent.
func (i *issued) changed(item []byte) bool {
	isOwn := func(own []byte) bool { return bytes.Equal(own, item) }
	return bytes.Contains(item, []byte(`"x_unknown"`)) && !slices.ContainsFunc(i.items, isOwn)
}

// unknown is a member that no client knows, in a spelling that encoders do not produce. Only its
// value is unusual: clients may change the white space around it, because Chat Completions sends
// objects in pieces.
const unknown = `"x_unknown":{"b": [1.0, 2.50E+3,  "\u0061\/<&>"], "a": null }`

// quote returns a JSON string in an unusual spelling: it escapes non-ASCII letters, slashes and
// ampersands.
func quote(s string) string { return `"` + strings.Join(pieces(s, 0), "") + `"` }

// pieces splits the content of a JSON string into pieces of up to size characters; 0 means one
// piece. No piece ends within an escape, but a surrogate pair may be split.
func pieces(s string, size int) []string {
	var list []string
	var b strings.Builder
	units := 0
	for _, r := range s {
		switch {
		case r == '/' || r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x20 || r == '&' || r > 0x7e && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04X`, high)
			if units++; units == size {
				list, units = append(list, b.String()), 0
				b.Reset()
			}
			fmt.Fprintf(&b, `\u%04X`, low)
		default:
			b.WriteByte(byte(r))
		}
		if units++; units == size {
			list, units = append(list, b.String()), 0
			b.Reset()
		}
	}
	if b.Len() > 0 {
		list = append(list, b.String())
	}
	return list
}

// deltas returns the pieces of a text in a stream.
func deltas(s string) []string {
	if len(s) > 1<<16 {
		return pieces(s, 1<<16)
	}
	return pieces(s, 5)
}
