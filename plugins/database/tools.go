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
func Tools(args string) []domarkx.Tool {
	args += "; bytes are {\"base64\": \"…\"}"
	statement := func(sql string) jsonvalue.Value { return jsonvalue.MustParse(fmt.Sprintf(statementSchema, sql, args)) }
	return []domarkx.Tool{
		{Name: "query", Description: "Runs one SQL statement that changes nothing, and returns its columns and rows.", ReadOnly: true,
			Schema: statement("one statement that reads")},
		{Name: "execute", Description: "Runs SQL statements, in one transaction, and returns how many rows they changed.",
			Schema: statement("statements, with semicolons between them; with args only one")},
		{Name: "schema", Description: "Returns the tables with their columns, indexes and definitions.", ReadOnly: true,
			Schema: jsonvalue.MustParse(`{"type": "object", "additionalProperties": false, "properties": {}}`)},
	}
}
