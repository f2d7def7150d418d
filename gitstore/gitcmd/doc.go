// Package gitcmd runs the git binary. No other package does.
//
// A [Git] describes one repository and how to call git for it, independently of the current
// working directory. Other information (configuration, author, editor) is obtained from git
// itself, at most once, since each process costs one to two milliseconds.
//
// Git 2.36 is required: it is the first version that can sync references (core.fsync), and
// older ones ignore that setting silently. Code that writes calls [Git.RequireVersion].
package gitcmd
