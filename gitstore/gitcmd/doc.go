// Package gitcmd runs the git binary, and is the only package that does.
//
// A [Git] knows one repository: where it is, and how to call git so that each
// call means that same repository whatever happens to the working directory.
// Everything else that Git knows (configuration, who the author is, which editor)
// is asked of git itself, at most once, because every process costs one to two
// milliseconds.
//
// The floor is Git 2.36, the first that can sync references (core.fsync). Older
// ones ignore that setting silently, so writers call [Git.RequireVersion], which
// starts git once per repository and git binary and remembers the answer.
package gitcmd
