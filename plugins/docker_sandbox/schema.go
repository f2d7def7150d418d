package dockersandbox

import (
	"fmt"

	"github.com/domarkx/domarkx"
)

// configSchema is what can be configured.
const configSchema = `{
  "type": "object",
  "required": ["image"],
  "additionalProperties": false,
  "properties": {
    "image": {"type": "string", "minLength": 1, "description": "the image, which has to be on the engine already"},
    "command": {
      "description": "a service that runs beside the calls: the arguments, or a line for sh",
      "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]
    },
    "env": {
      "type": "object",
      "description": "environment of all that runs",
      "propertyNames": {"pattern": "^[^=]+$"},
      "additionalProperties": {"type": ["string", "number", "boolean"]}
    },
    "mounts": {
      "type": "array",
      "description": "directories of the host, that git config domarkx.allowMount has to name",
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
    "network": {"type": "string", "minLength": 1, "description": "none unless set; others need git config domarkx.allowNetwork true"},
    "memory": {
      "description": "limit: bytes, or with b, k, m or g behind the number",
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
    "command": {"type": "string", "description": "a line for the container's sh"},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds until everything in the container is killed"}
  }
}`

// languages are those of blocks that run, each with the programs that do it, the
// first that the container has.
var languages = map[string][]string{
	"sh":      {"sh"},
	"shell":   {"sh"},
	"bash":    {"bash"},
	"python":  {"python3", "python"},
	"python3": {"python3"},
}

func description() (domarkx.Description, error) {
	config, err := domarkx.ParseValue([]byte(configSchema))
	if err != nil {
		return domarkx.Description{}, fmt.Errorf("read the schema of the config: %w", err)
	}
	arguments, err := domarkx.ParseValue([]byte(runCommandSchema))
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
