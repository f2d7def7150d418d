package openpocket

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

const (
	stampFormat = "20060102-150405"               // of ids and names, local
	isoFormat   = "2006-01-02T15:04:05.000Z"      // of Date.prototype.toISOString, UTC
	atFormat    = "2006-01-02T15:04:05.000Z07:00" // of the default of the argument "at"
)

// Defaults completes a call so that repeating it on the same state writes the same files at any
// time and on any machine: it adds the time, the newest session and a random id.
func (r *resource) Defaults(_ context.Context, name string, v jsonvalue.Value) (jsonvalue.Value, error) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return v, nil
	}
	when, err := whenOf(v)
	if err != nil {
		return v, err
	}
	if _, ok := v.Get("at"); !ok {
		v = v.With("at", jsonvalue.StringValue(when.Format(atFormat)))
	}
	_, named := v.Get("session")
	switch name {
	case "append_step", "finish_session", "save_screenshot":
		if !named {
			id, err := r.newestSession()
			if err != nil {
				return v, err
			}
			v = v.With("session", jsonvalue.StringValue(id))
		}
	case "run_script":
		if _, ok := v.Get("run_id"); !ok {
			b := make([]byte, 3)
			if _, err := rand.Read(b); err != nil {
				return v, err
			}
			v = v.With("run_id", jsonvalue.StringValue(when.Format(stampFormat)+"-"+hex.EncodeToString(b)))
		}
	case "store_artifact":
		payload, ok := v.Get("json")
		_, captured := payload.Get("capturedAt")
		if ok && !captured && isKnownKind(payload) {
			v = v.With("json", payload.With("capturedAt", jsonvalue.StringValue(when.UTC().Format(isoFormat))))
		}
	}
	return v, nil
}

// whenOf returns the time in a call, with its offset, or the current time.
func whenOf(v jsonvalue.Value) (time.Time, error) {
	given, ok := v.Get("at")
	if !ok {
		return time.Now(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, given.Text())
	if err != nil || t.Year() < 0 || t.UTC().Year() < 0 || t.Year() > 9999 || t.UTC().Year() > 9999 {
		return t, invalid("at is %q, expected a date and time with an offset, such as 2026-02-18T13:00:00.000+08:00", given.Text())
	}
	return t, nil
}

// when returns the time of a completed call, which is valid.
func (a arguments) when() time.Time {
	t, _ := whenOf(a.Value)
	return t
}

func iso(t time.Time) string { return t.UTC().Format(isoFormat) }
