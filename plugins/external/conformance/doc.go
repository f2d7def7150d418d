// Package conformance holds a program that is a plugin, in whatever language it is written,
// to the suite of package plugintest:
//
//	go test github.com/domarkx/domarkx/plugins/external/conformance -count=1 -v \
//		-args -program /path/to/git-domarkx-plugin-TYPE -suite /path/to/suite.json
//
// Without arguments it is the example, whose suite.json shows what one looks like:
//
//	{
//	  "config": {…},                          of a resource, without "type" and "id"
//	  "changes": [{"tool": "…", "arguments": {…}}, …],
//	                                          calls that each leave another state than before, in this order
//	  "read": {"tool": "…", "arguments": {…}}, a call that changes nothing, and works in every state
//	  "refused": {"not_found": {…}, …},       calls with fitting arguments that fail, by the code of their error
//	  "invalid": [{…}, …]                     configs that the schema must refuse
//	}
//
// The suite gives one wrong key and argument of its own, too: schemas need
// "additionalProperties": false.
package conformance
