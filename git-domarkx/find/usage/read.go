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
	count := func(name string) int64 { return int64(number(u, name, math.MaxInt32*1e3)) }
	r.Tokens = prices.Tokens{Input: count("input"), CacheRead: count("cache_read"), CacheWrite: count("cache_write"), Output: count("output")}
	if r.Tokens == (prices.Tokens{}) {
		return r
	}
	r.by = anAgent
	if text(metadata, "provider") != "" {
		r.by = ourselves
	}
	r.model, r.branch = text(metadata, "model"), text(metadata, "git_branch")
	r.cost = number(metadata, "cost", 1e9) // in USD; programs that do not know it record 0
	for _, name := range []string{"response_id", "id"} {
		if id := text(metadata, name); id != "" {
			sum := sha256.Sum256([]byte(name + "\x00" + id))
			r.key = key(sum[:16])
			break
		}
	}
	return r
}

// number returns the number in a member, or 0 if it is not from 0 to below a limit.
func number(v jsonvalue.Value, name string, below float64) float64 {
	m, _ := v.Get(name)
	if n, err := strconv.ParseFloat(m.Text(), 64); m.Kind() == jsonvalue.Number && err == nil && n >= 0 && n < below {
		return n
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
