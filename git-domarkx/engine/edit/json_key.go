package edit

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// JSONKeys returns the keys of the document's messages; see [JSONKey].
func (e *Edit) JSONKeys() ([]domarkx.Key, error) {
	keys := make([]domarkx.Key, e.Len())
	for j := range keys {
		msg, err := e.At(j)
		if err != nil {
			return nil, err
		}
		keys[j] = JSONKey(msg.Message.Value())
	}
	return keys, nil
}

// JSONKey identifies a JSON value regardless of the order of object members.
func JSONKey(v jsonvalue.Value) domarkx.Key {
	h := sha256.New()
	hashJSON(h, v)
	return domarkx.Key(h.Sum(nil))
}

func hashJSON(w io.Writer, v jsonvalue.Value) {
	switch v.Kind() {
	case jsonvalue.Object:
		members := slices.Clone(v.Members())
		slices.SortStableFunc(members, func(a, b jsonvalue.Member) int { return strings.Compare(a.Name, b.Name) })
		fmt.Fprintf(w, "{%d", len(members))
		for _, m := range members {
			fmt.Fprint(w, jsonvalue.StringValue(m.Name).JSON())
			hashJSON(w, m.Value)
		}
	case jsonvalue.Array:
		fmt.Fprintf(w, "[%d", len(v.Items()))
		for _, item := range v.Items() {
			hashJSON(w, item)
		}
	default:
		fmt.Fprint(w, v.JSON())
	}
}
