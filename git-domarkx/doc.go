// Command git-domarkx keeps AI sessions in Git and shows them as Markdown files.
//
// This package parses the command line, connects the packages that do the work, and prints results. Each command has a file
// cmd_<verb>.go, which includes its help text. The help screens, manual pages, documentation (package clidoc) and completions are
// all generated from one command model. Policy lives in the engine, not here.
package main

//go:generate go test -trimpath -run "TestGenerated|TestReadme" -update .
