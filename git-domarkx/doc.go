// Command git-domarkx keeps AI sessions in Git and shows them as Markdown files.
//
// The package parses the command line, wires the packages that do the work, and
// prints: a file per command (cmd_<verb>.go), with its help text; every page of
// help, manual and documentation is made from the same command model (page.go),
// and so are the completions. Policy lives in the engine, not here.
package main

//go:generate go test -run "TestGenerated|TestReadme" -update .
