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

// A requester is who requested a response.
type requester byte

const (
	nobody  requester = iota // the message does not state the tokens that it used
	anAgent                  // that of the session
	ourselves
)

// A row holds the usage data of one message of the assistant. Without a requester, the rest is zero.
type row struct {
	blob   oid.ID // id of the blob with the message
	by     requester
	key    key // zero if neither the provider nor the agent gave the response an id
	model  string
	branch string
	cost   float64 // USD; 0 if it was not recorded
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
	u, _ := metadata.Get("usage")
	r.Tokens = prices.Tokens{Input: count(u, "input"), CacheRead: count(u, "cache_read"), CacheWrite: count(u, "cache_write"), Output: count(u, "output")}
	if r.Tokens == (prices.Tokens{}) {
		return r
	}
	r.by = anAgent
	if text(metadata, "provider") != "" {
		r.by = ourselves
	}
	r.model, r.branch, r.cost = text(metadata, "model"), text(metadata, "git_branch"), cost(metadata)
	for _, name := range []string{"response_id", "id"} {
		if id := text(metadata, name); id != "" {
			r.key = keyOf(name, id)
			break
		}
	}
	return r
}

// cost returns the recorded cost in USD, or 0. Programs that do not know the cost record 0.
func cost(metadata jsonvalue.Value) float64 {
	v, _ := metadata.Get("cost")
	if n, err := strconv.ParseFloat(v.Text(), 64); v.Kind() == jsonvalue.Number && err == nil && n > 0 && n < 1e9 {
		return n
	}
	return 0
}

// count returns the number of tokens in a member, or 0 for a value that is not a number of tokens.
func count(v jsonvalue.Value, name string) int64 {
	m, _ := v.Get(name)
	if n, err := strconv.ParseFloat(m.Text(), 64); m.Kind() == jsonvalue.Number && err == nil && n >= 0 && n < math.MaxInt32*1e3 {
		return int64(n)
	}
	return 0
}

func text(v jsonvalue.Value, name string) string {
	m, _ := v.Get(name)
	if m.Kind() != jsonvalue.String {
		return ""
	}
	return m.Text()
}
