package main

import (
	"io"
	"strconv"
	"time"

	"github.com/domarkx/domarkx"
)

// writeJSON writes a JSON array of an object for each item. Strings are as the
// model has them: a lone surrogate is written as its escape.
func writeJSON[T any](w io.Writer, items []T, members func(T) []domarkx.Member) error {
	objects := make([]domarkx.Value, len(items))
	for i, item := range items {
		objects[i] = domarkx.ObjectValue(members(item)...)
	}
	data := domarkx.ArrayValue(objects...).AppendJSON(nil, "", "  ")
	_, err := w.Write(append(data, '\n'))
	return err
}

func jsonText(name, s string) domarkx.Member {
	return domarkx.Member{Name: name, Value: domarkx.StringValue(s)}
}

func jsonNumber(name string, n int64) domarkx.Member {
	return domarkx.Member{Name: name, Value: domarkx.NumberValue(strconv.FormatInt(n, 10))}
}

// jsonDate is an ISO 8601 date in UTC.
func jsonDate(name string, unix int64) domarkx.Member {
	return jsonText(name, time.Unix(unix, 0).UTC().Format(time.RFC3339))
}
