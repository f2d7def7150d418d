package codec

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// ErrNoVersion is the error for a commit that is not a workspace version.
var ErrNoVersion = fmt.Errorf("%w: no workspace version", domarkx.ErrCorrupt)

// Trailers that only the commit messages of workspace versions have. The first one distinguishes them from
// snapshots.
const (
	TrailerResources = "Domarkx-Resources"
	trailerCall      = "Domarkx-Call"
	trailerIgnored   = "Domarkx-Ignored"
	trailerExpired   = "Domarkx-Expired"
)

// MaxIgnored is the maximum number of ignored files that a version names. One is enough for a push to
// hold the version back.
const MaxIgnored = 100

// EncodeVersionMessage returns the commit message of a version with that many resources; see
// [EncodeMessage].
func EncodeVersionMessage(v domarkx.Version, resources int) []byte {
	var b bytes.Buffer
	b.WriteString(CleanSubject(v.Subject, v.Operation) + "\n\n")
	trailer(&b, trailerFormat, formatVersion)
	trailer(&b, trailerNumber, strconv.Itoa(v.Number))
	trailer(&b, TrailerResources, strconv.Itoa(resources))
	trailer(&b, trailerOperation, jsonvalue.StringValue(v.Operation).JSON())
	if v.Call != nil {
		trailer(&b, trailerCall, callValue(v.Call).JSON())
	}
	if v.Observed != nil {
		trailer(&b, trailerObserved, observationValue(v.Observed).JSON())
	}
	if v.Late {
		trailer(&b, trailerLate, "true")
	}
	if len(v.Shared) > 0 {
		trailer(&b, trailerShared, textsValue(v.Shared).JSON())
	}
	replaces(&b, v.Replacement)
	if len(v.Ignored) > 0 { // last, because earlier programs ignore only what follows what they know
		trailer(&b, trailerIgnored, textsValue(v.Ignored).JSON())
	}
	sameTexts(&b, v.Replacement)
	if v.Expired != nil {
		trailer(&b, trailerExpired, expiryValue(v.Expired).JSON())
	}
	return b.Bytes()
}

// DecodeVersionMessage decodes the commit message of a version. It ignores unknown trailers after the known
// ones.
func DecodeVersionMessage(message []byte) (v domarkx.Version, resources int, err error) {
	subject, t, err := decodeTrailers(message, ErrNoVersion)
	if err != nil {
		return v, 0, err
	}
	if _, ok := t.values[TrailerResources]; !ok {
		return v, 0, fmt.Errorf("%w: no trailer %s", ErrNoVersion, TrailerResources)
	}
	v = domarkx.Version{Subject: subject, Number: t.sequence(), Operation: t.text(trailerOperation), Replacement: t.replacement()}
	resources = int(t.number(TrailerResources))
	v.Call = optional(&t, trailerCall, "a call", parseCall)
	decodeObserved(&v, &t)
	v.Ignored = t.texts(trailerIgnored, "paths in ascending order", MaxIgnored)
	const expiry = "a time and a reason, and no resources"
	v.Expired = optional(&t, trailerExpired, expiry, parseExpiry)
	if v.Expired != nil && (v.Replaces == "" || resources != 0) {
		t.fail(trailerExpired, expiry)
	}
	return v, resources, t.err
}

// expiryValue returns an expiry as the JSON object of the trailer.
func expiryValue(e *domarkx.Expiry) jsonvalue.Value {
	members := []jsonvalue.Member{{Name: "on", Value: jsonvalue.StringValue(e.On.UTC().Format(time.RFC3339))}}
	if e.Before.IsZero() {
		members = append(members, jsonvalue.Member{Name: "newest", Value: jsonvalue.NumberValue(strconv.Itoa(e.Newest))})
	} else {
		members = append(members, jsonvalue.Member{Name: "before", Value: jsonvalue.StringValue(e.Before.UTC().Format(time.RFC3339))})
	}
	return jsonvalue.ObjectValue(members...)
}

// ExpiryText returns the trailer of an expiry, which is equal for equal ones.
func ExpiryText(e *domarkx.Expiry) string { return expiryValue(e).JSON() }

// parseExpiry parses the trailer of an expiry; nil if it is not in canonical form.
func parseExpiry(text string) *domarkx.Expiry {
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return nil
	}
	e := &domarkx.Expiry{}
	if e.On, err = time.Parse(time.RFC3339, textOf(v, "on")); err != nil {
		return nil
	}
	if before, ok := v.Get("before"); ok {
		e.Before, err = time.Parse(time.RFC3339, before.Text())
	} else {
		e.Newest, err = strconv.Atoi(textOf(v, "newest"))
	}
	if err != nil || e.Newest < 0 || expiryValue(e).JSON() != text {
		return nil
	}
	return e
}

// callValue returns a call as the JSON object that commits and snapshots store.
func callValue(c *domarkx.CallRecord) jsonvalue.Value {
	return jsonvalue.ObjectValue(
		jsonvalue.Member{Name: "session", Value: jsonvalue.StringValue(c.Session)},
		jsonvalue.Member{Name: "message", Value: jsonvalue.StringValue(c.Message.String())},
		jsonvalue.Member{Name: "index", Value: jsonvalue.NumberValue(strconv.Itoa(c.Index))},
		jsonvalue.Member{Name: "resource", Value: jsonvalue.StringValue(c.Resource)},
		jsonvalue.Member{Name: "tool", Value: jsonvalue.StringValue(c.Tool)},
	)
}

// parseCall parses the trailer of a call; nil if it is not in canonical form.
func parseCall(text string) *domarkx.CallRecord {
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return nil
	}
	c := &domarkx.CallRecord{Session: textOf(v, "session"), Resource: textOf(v, "resource"), Tool: textOf(v, "tool")}
	if c.Message, err = domarkx.ParseID(textOf(v, "message")); err != nil {
		return nil
	}
	if c.Index, err = strconv.Atoi(textOf(v, "index")); err != nil || c.Index < 0 || callValue(c).JSON() != text {
		return nil
	}
	return c
}
