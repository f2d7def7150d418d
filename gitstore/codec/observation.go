package codec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Trailers of versions that were created from a work tree which other programs may have changed
// meanwhile.
const (
	trailerObserved = "Domarkx-Observed"
	trailerLate     = "Domarkx-Late"
	trailerShared   = "Domarkx-Shared"
)

// Limits of what an observation names.
const (
	MaxShared  = 100
	MaxCalls   = 1000
	MaxLeftOut = 100
)

// CleanObservation returns an observation that can be stored: with valid UTF-8, and within the limits.
func CleanObservation(o domarkx.Observation) *domarkx.Observation {
	o.Branch = strings.ToValidUTF8(o.Branch, "\ufffd")
	o.Calls = slices.Clone(o.Calls[:min(len(o.Calls), MaxCalls)])
	for i := range o.Calls {
		o.Calls[i] = strings.ToValidUTF8(o.Calls[i], "\ufffd")
	}
	if n := len(o.LeftOut) - MaxLeftOut; n > 0 {
		o.More += n
	}
	o.LeftOut = slices.Clone(o.LeftOut[:min(len(o.LeftOut), MaxLeftOut)])
	for i := range o.LeftOut {
		o.LeftOut[i].Path = strings.ToValidUTF8(o.LeftOut[i].Path, "\ufffd")
	}
	return &o
}

func observationValue(o *domarkx.Observation) jsonvalue.Value {
	var members []jsonvalue.Member
	add := func(name string, v jsonvalue.Value, some bool) {
		if some {
			members = append(members, jsonvalue.Member{Name: name, Value: v})
		}
	}
	add("head", jsonvalue.StringValue(o.Head), o.Head != "")
	add("branch", jsonvalue.StringValue(o.Branch), o.Branch != "")
	add("calls", textsValue(o.Calls), len(o.Calls) > 0)
	files := make([]jsonvalue.Value, len(o.LeftOut))
	for i, f := range o.LeftOut {
		files[i] = jsonvalue.ObjectValue(jsonvalue.Member{Name: "path", Value: jsonvalue.StringValue(f.Path)}, jsonvalue.Member{Name: "reason", Value: jsonvalue.StringValue(f.Reason)})
	}
	add("left_out", jsonvalue.ArrayValue(files...), len(files) > 0)
	add("more", jsonvalue.NumberValue(strconv.Itoa(o.More)), o.More > 0)
	return jsonvalue.ObjectValue(members...)
}

func textsValue(texts []string) jsonvalue.Value {
	values := make([]jsonvalue.Value, len(texts))
	for i, text := range texts {
		values[i] = jsonvalue.StringValue(text)
	}
	return jsonvalue.ArrayValue(values...)
}

func decodeObserved(v *domarkx.Version, t *trailers) {
	v.Observed = optional(t, trailerObserved, "an observation", parseObservation)
	if text, ok := t.values[trailerLate]; ok {
		if v.Late = text == "true"; !v.Late {
			t.fail(trailerLate, "true")
		}
	}
	v.Shared = t.texts(trailerShared, "names in ascending order", MaxShared)
}

// texts returns an array of at most that many strings, in ascending order and canonical form; nil without such a trailer.
func (t *trailers) texts(key, expected string, most int) []string {
	text, ok := t.values[key]
	if !ok {
		return nil
	}
	v, err := jsonvalue.ParseValue([]byte(text))
	texts := textsOf(v)
	if err != nil || len(texts) == 0 || len(texts) > most || !slices.IsSorted(texts) || textsValue(texts).JSON() != text {
		t.fail(key, expected)
	}
	return texts
}

// textOf returns the text of a member of an object.
func textOf(v jsonvalue.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}

func textsOf(v jsonvalue.Value) []string {
	var texts []string
	for _, item := range v.Items() {
		texts = append(texts, item.Text())
	}
	return texts
}

// parseObservation parses the trailer of an observation; nil if it is not in canonical form.
func parseObservation(text string) *domarkx.Observation {
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil || v.Kind() != jsonvalue.Object {
		return nil
	}
	calls, _ := v.Get("calls")
	o := &domarkx.Observation{Head: textOf(v, "head"), Branch: textOf(v, "branch"), Calls: textsOf(calls)}
	leftOut, _ := v.Get("left_out")
	for _, item := range leftOut.Items() {
		o.LeftOut = append(o.LeftOut, domarkx.LeftOut{Path: textOf(item, "path"), Reason: textOf(item, "reason")})
	}
	o.More, _ = strconv.Atoi(textOf(v, "more"))
	if len(o.Calls) > MaxCalls || len(o.LeftOut) > MaxLeftOut || observationValue(o).JSON() != text {
		return nil
	}
	return o
}
