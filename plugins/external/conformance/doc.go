// Package conformance tests a plugin program, written in any language, with the suite of package
// plugintest:
//
//	go test github.com/domarkx/domarkx/plugins/external/conformance -count=1 -v \
//		-args -program /path/to/git-domarkx-plugin-TYPE -suite /path/to/suite.json
//
// Without arguments it tests the example, whose suite.json shows the format:
//
//	{
//	  "config": {…},                          of a resource, without "type" and "id"
//	  "changes": [{"tool": "…", "arguments": {…}}, …],
//	                                          calls that each change the state, in this order
//	  "read": {"tool": "…", "arguments": {…}}, a call that changes nothing and works in every state
//	  "refused": {"not_found": {…}, …},       calls with valid arguments that fail, by error code
//	  "invalid": [{…}, …]                     configs that the schema must reject
//	}
//
// The suite also passes an unknown config key and an unknown argument, so schemas need
// "additionalProperties": false.
package conformance
