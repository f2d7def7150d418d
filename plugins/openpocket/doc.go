// Package openpocket implements the resource type "openpocket": the files of OpenPocket, an
// agent that uses a phone, with tools that write them like OpenPocket itself. README.md in this
// directory describes the files and the differences.
package openpocket
