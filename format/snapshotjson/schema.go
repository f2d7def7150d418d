package snapshotjson

import _ "embed"

//go:embed snapshot.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of snapshot documents.
func Schema() string { return schema }
