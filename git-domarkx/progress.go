package main

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress shows how far a long operation is, on standard error. It shows nothing in the
// first second, if standard error is not a terminal, or with --quiet or --no-progress.
type progress struct {
	w     io.Writer // nil if nothing is shown
	start time.Time
	stage string
	bar   *progressbar.ProgressBar
}

func (inv *invocation) progress() *progress {
	return &progress{start: time.Now(), w: inv.gitProgress()}
}

// report records that done of total steps of a stage are complete. A total of 0 or less
// means that the number of steps is unknown.
func (p *progress) report(stage string, done, total int64) {
	if p.w == nil || time.Since(p.start) < time.Second {
		return
	}
	if p.bar == nil || stage != p.stage {
		p.finish()
		if total <= 0 {
			total = -1
		}
		p.stage = stage
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(stage),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(20),
			progressbar.OptionClearOnFinish())
	}
	if total > 0 && total != p.bar.GetMax64() {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done)
}

// finish erases the progress line.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

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
