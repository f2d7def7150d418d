// Package clidoc describes the commands of a program to its users, from the command model
// of package kong: the screen of -h, help texts, manual pages and Markdown pages. It also
// returns what can complete a command line.
package clidoc
