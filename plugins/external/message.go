package external

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// message encodes a message of the host with its line end. Without an id it is a notification.
func message(id any, method string, params any) []byte {
	return append(jsonvalue.ObjectOf("jsonrpc", "2.0", "id", id, "method", method, "params", params).AppendJSON(nil, "", ""), '\n')
}

// An answer is a message of a plugin: the answer to a request, or its progress.
type answer struct {
	progress bool
	id       string
	result   jsonvalue.Value
	err      error // of the plugin
}

func parse(line []byte) (answer, error) {
	if !utf8.Valid(line) {
		return answer{}, errors.New("it is not UTF-8")
	}
	v, err := jsonvalue.ParseValue(line)
	if err != nil {
		return answer{}, fmt.Errorf("it is not JSON: %w", err)
	}
	if v.Kind() != jsonvalue.Object {
		return answer{}, errors.New("expected a JSON object")
	}
	if version, _ := v.Get("jsonrpc"); version.Kind() != jsonvalue.String || version.Text() != "2.0" {
		return answer{}, errors.New(`expected "jsonrpc": "2.0"`)
	}
	id, hasID := v.Get("id")
	if method, ok := v.Get("method"); ok {
		if hasID || method.Kind() != jsonvalue.String || method.Text() != "progress" {
			return answer{}, errors.New(`a plugin cannot send requests, and "progress" is its only notification`)
		}
		return answer{progress: true}, nil
	}
	result, hasResult := v.Get("result")
	failure, hasError := v.Get("error")
	if !hasID || hasResult == hasError {
		return answer{}, errors.New(`expected "id" and either "result" or "error"`)
	}
	a := answer{id: id.JSON(), result: result}
	if hasError {
		a.err, err = parseError(failure)
	}
	return a, err
}

func parseError(v jsonvalue.Value) (*domarkx.ToolError, error) {
	number, _ := v.Get("code")
	text, _ := v.Get("message")
	if _, err := strconv.ParseInt(number.Text(), 10, 64); number.Kind() != jsonvalue.Number || err != nil || text.Kind() != jsonvalue.String {
		return nil, errors.New(`expected an error with a whole number as "code" and a text as "message"`)
	}
	e := &domarkx.ToolError{Code: domarkx.CodeFailed, Message: text.Text()}
	if number.Text() == "-32602" { // invalid params
		e.Code = domarkx.CodeInvalid
	}
	data, _ := v.Get("data")
	switch code, _ := data.Get("code"); code.Text() {
	case domarkx.CodeInvalid, domarkx.CodeNotFound, domarkx.CodeRefused, domarkx.CodeFailed, domarkx.CodeTimeout, domarkx.CodeUnknownTool:
		e.Code = code.Text()
	}
	return e, nil
}
