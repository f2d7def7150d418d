// Package html writes sessions as pages for a browser: without scripts, without anything that is
// loaded from elsewhere, and with everything that came from a session escaped.
//
// A message's Markdown is rendered, its raw HTML is shown as text. Links lead to http, https and
// mailto only. Images are those that the session keeps or holds as data, never remote ones.
// Calls, results and thoughts are folded. Characters that reorder or hide text are made visible.
//
// goldmark renders the Markdown, with functions of this package for raw HTML, links and images. Code
// is not coloured, except diffs: libraries for that cost more at start-up than the whole program.
package html

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// A Session is a snapshot of a session, ready to be written.
type Session struct {
	Name     string
	Snapshot string // commit ID in hexadecimal; "" if there is none
	Header   domarkx.Header
	Messages format.Messages
	// Size returns the number of bytes of message k as Markdown, without loading it. It may be nil.
	Size func(k int) int64
	// File returns the content of a file that the session keeps under a path. It may be nil.
	File func(path string) ([]byte, error)
	// Cost returns the cost of a response in USD, and whether it is known. It may be nil.
	Cost func(model string, u Usage) (float64, bool)
	// Version returns the workspace version that message k is linked to; "" for none. It may be nil.
	Version func(k int) string
	// Files returns the URL of the pages of a workspace version. It may be nil.
	Files func(version string) string
	// Lines returns the URL of the page of the lines that message k wrote. It may be nil.
	Lines func(k int) string
}

// A Usage holds the token counts of a response. Input excludes cached tokens, and Output includes
// reasoning.
type Usage struct{ Input, CacheRead, CacheWrite, Output int64 }

func (u Usage) plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output}
}
