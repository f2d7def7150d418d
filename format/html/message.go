package html

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// maxImages limits the total size of the images of one page, in bytes.
const maxImages = 64 << 20

// A writer writes the messages of a session.
type writer struct {
	session  Session
	markdown *markdownWriter
	seen     map[domarkx.ID]int // number of times that each anchor id was used
	total    totals
	prompts  []prompt
}

// totals holds the sums over the written messages.
type totals struct {
	messages  int
	responses int
	usage     Usage
	cost      float64
	priced    int
	models    []string // at most [maxModels]
	first     int64    // Unix seconds
	last      int64
}

const maxModels = 20

// A prompt is a row in the table of prompts.
type prompt struct {
	anchor string
	page   int // number of the page, from 1; 0 for the same page
	text   string
	date   int64
}

func newWriter(s Session) *writer {
	return &writer{session: s, markdown: newMarkdown(s.File), seen: map[domarkx.ID]int{}}
}

// messages returns the messages from index from up to, but excluding, to.
func (w *writer) messages(from, to int) (body bytes.Buffer, err error) {
	for k := from; k < to; k++ {
		if _, err := w.message(&body, k, 0); err != nil {
			return body, fmt.Errorf("message %d: %w", k, err)
		}
	}
	return body, nil
}

// message writes message k and returns the number of bytes of text in it.
func (w *writer) message(b *bytes.Buffer, k, page int) (int, error) {
	m, err := w.session.Messages.At(k)
	if err != nil {
		return 0, err
	}
	anchor := m.ID.String()
	if w.seen[m.ID]++; w.seen[m.ID] > 1 { // the texts of one merge conflict share an id
		anchor += "-" + strconv.Itoa(w.seen[m.ID])
	}
	metadata := m.Meta()
	role := "user"
	if m.Role == domarkx.Assistant {
		role = "assistant"
	}
	fmt.Fprintf(b, "<article class=%q id=%q>\n<header><a class=\"k\" href=\"#%s\">%d</a> <b>%s</b>", role, anchor, anchor, k, strings.ToUpper(role[:1])+role[1:])
	w.about(b, k, m, metadata)
	b.WriteString("</header>\n")
	if conflict := transcript.Text(metadata, "conflict"); conflict != "" {
		b.WriteString(`<p class="note">One of several texts of this message, which a merge left.</p>`)
	}
	size, err := w.content(b, m.Message)
	if err != nil {
		return size, err
	}
	if m.Role == domarkx.User {
		w.prompts = append(w.prompts, prompt{anchor, page, promptText(m.Message), m.Date})
	}
	b.WriteString("</article>\n")
	return size, nil
}

// about writes a message's line with its model, tokens and time, and adds them to the totals.
func (w *writer) about(b *bytes.Buffer, k int, m domarkx.WrittenMessage, metadata jsonvalue.Value) {
	t := &w.total
	t.messages++
	if model := transcript.Text(metadata, "model"); model != "" && m.Role == domarkx.Assistant {
		writef(b, ` <span>%s</span>`, cut(model, 80))
		if !slices.Contains(t.models, model) && len(t.models) < maxModels {
			t.models = append(t.models, model)
		}
	}
	if u, ok := usageOf(metadata); ok {
		t.responses++
		t.usage = t.usage.plus(u)
		text := u.brief()
		if cost, known := w.cost(metadata, u); known {
			t.cost += cost
			t.priced++
			text += " · " + dollars(cost)
		}
		writef(b, ` <span class="tokens">%s</span>`, text)
	}
	if w.session.Files != nil && w.session.Version != nil {
		if version := w.session.Version(k); version != "" {
			writef(b, ` <a href="%s">files</a>`, w.session.Files(version))
			if w.session.Lines != nil && m.Role == domarkx.Assistant {
				writef(b, ` <a href="%s">lines</a>`, w.session.Lines(k))
			}
		}
	}
	if m.Date > 0 {
		if t.first == 0 || m.Date < t.first {
			t.first = m.Date
		}
		t.last = max(t.last, m.Date)
		b.WriteByte(' ')
		writeTime(b, m.Date)
	}
}

// cost returns the cost of a response in USD: the recorded cost, or one computed from the model's
// price.
func (w *writer) cost(metadata jsonvalue.Value, u Usage) (float64, bool) {
	if v := transcript.Get(metadata, "cost"); v.Kind() == jsonvalue.Number {
		if n, err := strconv.ParseFloat(v.Text(), 64); err == nil && n > 0 && n < 1e9 {
			return n, true
		}
	}
	if w.session.Cost == nil {
		return 0, false
	}
	return w.session.Cost(transcript.Text(metadata, "model"), u)
}

// content writes the blocks of a message and returns the bytes of text in them.
func (w *writer) content(b *bytes.Buffer, m domarkx.Message) (int, error) {
	size := 0
	for i := 0; i < len(m.Content); i++ {
		block := m.Content[i]
		size += len(block.Text)
		call, isCall := transcript.CallOf(block)
		result, isResult := transcript.ResultOf(block)
		switch {
		case block.Type == domarkx.TextBlock:
			if err := w.markdown.write(b, block.Text); err != nil {
				return size, err
			}
		case isCall:
			var answer *transcript.Result
			if i+1 < len(m.Content) {
				if next, ok := transcript.ResultOf(m.Content[i+1]); ok {
					i++
					answer = &next
					size += len(m.Content[i].Text)
				}
			}
			writeCall(b, &call, answer)
		case isResult:
			writeResult(b, &result)
		case transcript.IsCode(block, "thought"):
			writef(b, "<details class=\"thought\"><summary>Thought <span class=\"brief\">%s</span></summary>\n", cut(block.Text, 160))
			if err := w.markdown.write(b, block.Text); err != nil {
				return size, err
			}
			b.WriteString("</details>\n")
		default:
			if block.Name != "" {
				writef(b, `<p class="label">%s</p>`, cut(block.Name, 200))
			}
			writeCode(b, block.Language, block.Text)
		}
	}
	return size, nil
}

// promptText returns the first line of a message for the table.
func promptText(m domarkx.Message) string {
	for _, block := range m.Content {
		if line := Line(block.Text, 160); line != "" {
			return line
		}
	}
	return "(empty)"
}

func usageOf(metadata jsonvalue.Value) (Usage, bool) {
	u := transcript.Get(metadata, "usage")
	n := Usage{count(u, "input"), count(u, "cache_read"), count(u, "cache_write"), count(u, "output")}
	return n, n != Usage{}
}

func count(v jsonvalue.Value, name string) int64 {
	n, err := strconv.ParseFloat(transcript.Get(v, name).Text(), 64)
	if err != nil || !(n >= 0 && n < 1e15) || transcript.Get(v, name).Kind() != jsonvalue.Number {
		return 0
	}
	return int64(n)
}

// brief returns a token count in short form.
func (u Usage) brief() string {
	s := thousands(u.Input+u.CacheRead+u.CacheWrite) + " in"
	if u.CacheRead > 0 {
		s += " (" + thousands(u.CacheRead) + " cached)"
	}
	return s + " · " + thousands(u.Output) + " out"
}

// thousands formats a number in at most four characters followed by a unit (k, M).
func thousands(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 100_000:
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64), ".0") + "k"
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	case n < 100_000_000:
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64), ".0") + "M"
	default:
		return strconv.FormatInt(n/1_000_000, 10) + "M"
	}
}

func dollars(cost float64) string {
	if cost < 0.01 {
		return "< $0.01"
	}
	return "$" + strconv.FormatFloat(cost, 'f', 2, 64)
}

// writeTime writes a time, given in Unix seconds.
func writeTime(b *bytes.Buffer, unix int64) {
	t := time.Unix(unix, 0).UTC()
	fmt.Fprintf(b, "<time datetime=%q>%s</time>", t.Format(time.RFC3339), t.Format("2006-01-02 15:04"))
}
