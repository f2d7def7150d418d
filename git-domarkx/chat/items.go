package chat

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// itemsHead is the first line of a record of provider items (gitstore/SPEC.md, section 13).
const itemsHead = "domarkx-items 1\n"

// The limits of a record.
const (
	maxItems     = 100000
	maxItemsHead = 4 << 20 // maximum number of bytes before the items
)

// encodeItems returns the record of a message's provider items. message is the digest of the
// message's content.
func encodeItems(raw provider.Raw, message string) []byte {
	var b bytes.Buffer
	b.WriteString(itemsHead)
	fmt.Fprintf(&b, "provider %s\nhost %s\nmodel %s\nmessage %s\n", codec.EscapeField(raw.Origin.Provider), codec.EscapeField(raw.Origin.Host), codec.EscapeField(raw.Origin.Model), message)
	for _, item := range raw.Items {
		fmt.Fprintf(&b, "item %d\n", len(item))
	}
	b.WriteByte('\n')
	for _, item := range raw.Items {
		b.Write(item)
	}
	return b.Bytes()
}

// decodeItems decodes a record. ok is false unless encodeItems would write exactly the same bytes.
func decodeItems(data []byte) (raw provider.Raw, message string, ok bool) {
	head, items, found := bytes.Cut(data, []byte("\n\n"))
	if !found || len(head) > maxItemsHead || !bytes.HasPrefix(head, []byte(itemsHead)) {
		return raw, "", false
	}
	for line := range strings.Lines(string(head[len(itemsHead):])) {
		var err error
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "provider":
			raw.Origin.Provider, err = codec.UnescapeField(value)
		case "host":
			raw.Origin.Host, err = codec.UnescapeField(value)
		case "model":
			raw.Origin.Model, err = codec.UnescapeField(value)
		case "message":
			message = value
		case "item":
			var n int
			if n, err = strconv.Atoi(value); err != nil || n < 0 || n > len(items) || len(raw.Items) == maxItems {
				return raw, "", false
			}
			raw.Items = append(raw.Items, items[:n:n])
			items = items[n:]
		}
		if err != nil {
			return raw, "", false
		}
	}
	if len(items) > 0 || len(raw.Items) == 0 {
		return raw, "", false
	}
	return raw, message, bytes.Equal(encodeItems(raw, message), data)
}

// contentDigest returns the SHA-256 of a message's content without the results of calls, in
// hexadecimal.
func contentDigest(content []domarkx.Block) string {
	said := slices.DeleteFunc(slices.Clone(content), func(b domarkx.Block) bool { return isCode(b, toolResult) })
	if said == nil {
		said = []domarkx.Block{}
	}
	value, _ := domarkx.Message{Content: said}.Value().Get("content")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(value.JSON())))
}
