// Package clidoc describes the commands of a program to its users, all from the command model of
// package kong: the screen of -h, help texts, manual pages, Markdown pages, and what can complete
// a command line.
package clidoc
