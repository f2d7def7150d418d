package dockersandbox

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// configSchema is the JSON Schema of the config.
const configSchema = `{
  "type": "object",
  "required": ["image"],
  "additionalProperties": false,
  "properties": {
    "image": {"type": "string", "minLength": 1, "description": "the image; it must be on the engine already"},
    "command": {
      "description": "a service that runs during the calls: its arguments, or a line for sh",
      "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]
    },
    "env": {
      "type": "object",
      "description": "environment of the service and of all commands",
      "propertyNames": {"pattern": "^[^=]+$"},
      "additionalProperties": {"type": ["string", "number", "boolean"]}
    },
    "mounts": {
      "type": "array",
      "description": "directories of the host; git config domarkx.allowMount must name them",
      "items": {
        "type": "object",
        "required": ["source", "target"],
        "additionalProperties": false,
        "properties": {
          "source": {"type": "string", "minLength": 1, "description": "directory of the host; relative to the work tree"},
          "target": {"type": "string", "pattern": "^/.", "description": "absolute path in the container"},
          "writable": {"type": "boolean"}
        }
      }
    },
    "network": {"type": "string", "minLength": 1, "description": "none by default; others need git config domarkx.allowNetwork true"},
    "memory": {
      "description": "limit in bytes, or with the suffix b, k, m or g",
      "anyOf": [{"type": "integer", "minimum": 6291456}, {"type": "string", "pattern": "^[0-9]+[bkmgBKMG]?$"}]
    },
    "cpus": {"type": "number", "exclusiveMinimum": 0, "description": "limit, such as 1.5"}
  }
}`

const runCommandSchema = `{
  "type": "object",
  "required": ["command"],
  "additionalProperties": false,
  "properties": {
    "command": {"type": "string", "description": "a command line for the container's sh"},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds after which all processes in the container are killed"}
  }
}`

// languages maps the language of a code block to its interpreters; the first one that the
// container has is used.
var languages = map[string][]string{
	"sh":      {"sh"},
	"shell":   {"sh"},
	"bash":    {"bash"},
	"python":  {"python3", "python"},
	"python3": {"python3"},
}

func description() (domarkx.Description, error) {
	config, err := jsonvalue.ParseValue([]byte(configSchema))
	if err != nil {
		return domarkx.Description{}, fmt.Errorf("read the schema of the config: %w", err)
	}
	arguments, err := jsonvalue.ParseValue([]byte(runCommandSchema))
	if err != nil {
		return domarkx.Description{}, fmt.Errorf("read the schema of run_command: %w", err)
	}
	return domarkx.Description{
		Source: "built-in",
		Config: config,
		Tools: []domarkx.Tool{{
			Name:        "run_command",
			Description: "Runs a shell command in the container and returns its exit code and output.",
			Schema:      arguments,
		}},
		Languages: []string{"bash", "python", "python3", "sh", "shell"},
	}, nil
}
