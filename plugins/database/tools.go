package database

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

const statementSchema = `{
  "type": "object",
  "required": ["sql"],
  "additionalProperties": false,
  "properties": {
    "sql": {"type": "string", "minLength": 1, "description": %q},
    "args": {
      "description": %q,
      "anyOf": [{"type": "array"}, {"type": "object"}]
    },
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds until the statement is cancelled"}
  }
}`

// Tools describes the tools query, execute and schema; args describes how parameters are
// written.
func Tools(args string) ([]domarkx.Tool, error) {
	args += "; bytes are {\"base64\": \"…\"}"
	tools := []domarkx.Tool{
		{Name: "query", Description: "Runs one SQL statement that changes nothing, and returns its columns and rows.", ReadOnly: true},
		{Name: "execute", Description: "Runs SQL statements, in one transaction, and returns how many rows they changed."},
		{Name: "schema", Description: "Returns the tables with their columns, indexes and definitions.", ReadOnly: true},
	}
	for i, text := range []string{
		fmt.Sprintf(statementSchema, "one statement that reads", args),
		fmt.Sprintf(statementSchema, "statements, with semicolons between them; with args only one", args),
		`{"type": "object", "additionalProperties": false, "properties": {}}`,
	} {
		schema, err := jsonvalue.ParseValue([]byte(text))
		if err != nil {
			return nil, err
		}
		tools[i].Schema = schema
	}
	return tools, nil
}

// Errorf returns a [*domarkx.ToolError].
func Errorf(code, format string, args ...any) error {
	return &domarkx.ToolError{Code: code, Message: fmt.Sprintf(format, args...)}
}
