package usage

import (
	"bytes"
	"crypto/sha256"
	"math"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// chatAgent is the agent of responses that this program requested itself.
const chatAgent = "chat"

// A key identifies a response. A response that several sessions contain has the same key in all of
// them.
type key [16]byte

func keyOf(kind, id string) key {
	sum := sha256.Sum256([]byte(kind + "\x00" + id))
	return key(sum[:16])
}

// A row holds the usage data of one message of the assistant.
type row struct {
	blob    oid.ID // id of the blob with the message
	counted bool   // the message states the tokens that it used; otherwise the rest is zero
	key     key    // zero if neither the provider nor the agent gave the response an id
	chat    bool
	model   string
	branch  string
	cost    float64
	hasCost bool
	prices.Tokens
}

// read returns the row of a message from its stored JSON. It parses only the metadata, relying on
// the stored form: an indentation of two spaces for each level, and no line ends in strings.
func read(data []byte) (r row) {
	const member = "\n  \"message_metadata\": {\n"
	start := bytes.Index(data, []byte(member))
	if start < 0 {
		return r
	}
	start += len(member) - len("{\n")
	end := bytes.Index(data[start:], []byte("\n  }"))
	if end < 0 {
		return r
	}
	data = data[start : start+end+len("\n  }")]
	if !bytes.Contains(data, []byte(`"usage":`)) {
		return r
	}
	metadata, err := jsonvalue.ParseOutline(data, func(name string, kind jsonvalue.Kind) bool {
		return name == domarkx.MetadataGlue || name == "content" || name == "runs" || name == "results"
	})
	if err != nil {
		return r
	}
	source := metadata
	if entry, ok := get(metadata, "entry", "message"); ok { // as earlier versions imported it from pi
		source = entry
	}
	u, ok := get(source, "usage")
	if !ok {
		return r
	}
	r.Tokens = prices.Tokens{Input: count(u, "input"), CacheRead: count(u, "cache_read", "cacheRead"),
		CacheWrite: count(u, "cache_write", "cacheWrite"), Output: count(u, "output")}
	if r.Tokens == (prices.Tokens{}) {
		return r
	}
	r.counted = true
	r.model, r.branch = text(source, "model"), text(metadata, "git_branch")
	r.chat = text(metadata, "provider") != ""
	r.cost, r.hasCost = cost(metadata, u)
	for _, name := range []string{"response_id", "id"} {
		if id := text(metadata, name); id != "" {
			r.key = keyOf(name, id)
			break
		}
	}
	if id, ok := get(metadata, "entry", "id"); ok && r.key == (key{}) { // in the form in which format/pi makes response_id
		response := text(source, "responseId")
		if response == "" {
			at, _ := get(source, "timestamp")
			response = id.Text() + "-" + at.Text()
		}
		r.key = keyOf("response_id", response)
	}
	return r
}

// cost returns the recorded cost in USD. Programs that do not know the cost record 0.
func cost(metadata, usage jsonvalue.Value) (float64, bool) {
	v, ok := get(metadata, "cost")
	if !ok {
		v, _ = get(usage, "cost", "total")
	}
	if v.Kind() != jsonvalue.Number {
		return 0, false
	}
	n, err := strconv.ParseFloat(v.Text(), 64)
	return n, err == nil && n > 0 && n < 1e9
}

// count returns the number of tokens in the first member with one of the names. It returns 0 for a
// value that is not a number of tokens.
func count(v jsonvalue.Value, names ...string) int64 {
	for _, name := range names {
		m, ok := v.Get(name)
		if !ok || m.Kind() != jsonvalue.Number {
			continue
		}
		n, err := strconv.ParseFloat(m.Text(), 64)
		if err != nil || !(n >= 0 && n < math.MaxInt32*1e3) {
			return 0
		}
		return int64(n)
	}
	return 0
}

// get returns the value at a path of members in nested objects.
func get(v jsonvalue.Value, path ...string) (jsonvalue.Value, bool) {
	for _, name := range path {
		next, ok := v.Get(name)
		if !ok {
			return jsonvalue.Value{}, false
		}
		v = next
	}
	return v, true
}

func text(v jsonvalue.Value, path ...string) string {
	m, _ := get(v, path...)
	if m.Kind() != jsonvalue.String {
		return ""
	}
	return m.Text()
}
