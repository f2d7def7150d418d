package main

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
)

// A fetchMeter reads what git fetch prints for people, and shows only how many objects came. References and the counters of both
// sides say nothing about sessions.
type fetchMeter struct {
	*progress
	counter *regexp.Regexp
	line    []byte // that is not complete
}

const receiving = `^Receiving objects: +\d+% \((\d+)/(\d+)\)`

// fetchProgress returns where git fetch reports its progress, or nil if nothing is shown, and a function that ends that.
func (inv *invocation) fetchProgress() (w io.Writer, finish func()) {
	if inv.gitProgress() == nil {
		return nil, func() {}
	}
	m := &fetchMeter{progress: inv.progress(), counter: regexp.MustCompile(receiving)}
	return m, m.finish
}

func (m *fetchMeter) Write(p []byte) (int, error) {
	m.line = append(m.line, p...)
	for {
		end := bytes.IndexAny(m.line, "\r\n")
		if end < 0 {
			break
		}
		if found := m.counter.FindSubmatch(m.line[:end]); found != nil {
			done, _ := strconv.ParseInt(string(found[1]), 10, 64)
			total, _ := strconv.ParseInt(string(found[2]), 10, 64)
			m.report("receiving objects", done, total)
		}
		m.line = m.line[end+1:]
	}
	const longest = 1 << 10 // of git's own lines; a remote may send anything
	if len(m.line) > longest {
		m.line = nil
	}
	return len(p), nil
}
