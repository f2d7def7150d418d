// Package clidoc describes the commands of a program to its users, from the command model of package kong: the screen of -h, help
// texts, manual pages and Markdown pages. It also returns what can complete a command line. A test compares all of them with the
// committed files: pages that are written separately become out of date.
package clidoc
