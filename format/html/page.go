package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/transcript"
)

//go:embed style.css
var styles string

// Policy returns the Content-Security-Policy of pages: no scripts, no loading except for images
// embedded in the page, and no style sheet except this package's.
func Policy() string {
	return "default-src 'none'; img-src data:; style-src " + StyleHash() + "; base-uri 'none'; form-action 'none'"
}

// Hash returns the source expression of an inline style or script for a Content-Security-Policy:
// 'sha256-BASE64' (CSP Level 3, section 2.3.1).
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// StyleHash returns the source expression of the style sheet of pages.
func StyleHash() string { return Hash(styles) }

// Write writes a session as one page.
func Write(to io.Writer, s Session) error {
	w := newWriter(s)
	body, err := w.messages(0, s.Messages.Len())
	if err != nil {
		return err
	}
	var head bytes.Buffer
	title := w.title()
	Begin(&head, title, Policy(), "")
	w.header(&head, title)
	writePrompts(&head, w.prompts, "", len(w.prompts) <= 40)
	head.WriteString("<main>\n")
	body.WriteString("</main>\n")
	end(&body)
	if _, err := head.WriteTo(to); err != nil {
		return err
	}
	_, err = body.WriteTo(to)
	return err
}

// Begin writes the beginning of a page, up to its content. styles are added to the style sheet and to
// the Content-Security-Policy.
func Begin(b *bytes.Buffer, title, policy, more string) {
	writef(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>%s</style>\n", policy, title, Markup(styles))
	if more != "" {
		b.WriteString("<style>" + more + "</style>\n")
	}
	b.WriteString("</head>\n<body>\n<div class=\"page\">\n")
}

func end(b *bytes.Buffer) {
	b.WriteString("<footer>Written by git-domarkx. Calls, results and thoughts are folded.</footer>\n</div>\n</body>\n</html>\n")
}

// title returns the title of a session: the one in its front matter, or else its first prompt, or else
// its name.
func (w *writer) title() string {
	if t := Line(transcript.Text(w.session.Header.Meta(), "title"), 120); t != "" {
		return t
	}
	if len(w.prompts) > 0 && w.prompts[0].text != "(empty)" {
		return w.prompts[0].text
	}
	return clean(w.session.Name)
}

// header writes the properties of the whole session.
func (w *writer) header(b *bytes.Buffer, title string) {
	t := &w.total
	writef(b, "<header>\n<h1>%s</h1>\n<p class=\"meta\"><span>%s</span>", title, w.session.Name)
	if s := w.session.Snapshot; s != "" {
		writef(b, ` <span><span class="oid" title="%s">%s</span></span>`, s, s[:min(len(s), 10)])
	}
	for _, model := range t.models {
		writef(b, " <span>%s</span>", cut(model, 80))
	}
	b.WriteString("</p>\n<p class=\"meta\">")
	if t.first > 0 {
		writeTime(b, t.first)
		if t.last-t.first >= 60 {
			b.WriteString(" – ")
			writeTime(b, t.last)
		}
	}
	fmt.Fprintf(b, "<span> %s</span>", Count(t.messages, "message"))
	if t.responses > 0 {
		text := t.usage.brief()
		if t.priced > 0 {
			text += " · " + dollars(t.cost)
		}
		if t.priced > 0 && t.priced < t.responses {
			text += " where the price is known"
		}
		writef(b, "<span>%s</span>", text)
	}
	b.WriteString("</p>\n</header>\n")
}

// Count returns a number with a noun.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// writePrompts writes the table of prompts. It links to anchors in the same page or in pages below
// dir.
func writePrompts(b *bytes.Buffer, prompts []prompt, dir string, open bool) {
	if len(prompts) == 0 {
		return
	}
	b.WriteString("<nav class=\"prompts\"><details")
	if open {
		b.WriteString(" open")
	}
	fmt.Fprintf(b, "><summary>%s</summary>\n<ol>\n", Count(len(prompts), "prompt"))
	for _, p := range prompts {
		writePrompt(b, p, dir)
	}
	b.WriteString("</ol></details></nav>\n")
}

func writePrompt(b *bytes.Buffer, p prompt, dir string) {
	address := "#" + p.anchor
	if p.page > 0 && dir != "" {
		address = dir + pageName(p.page) + address
	}
	writef(b, `<li><a href="%s">%s</a>`, address, p.text)
	if p.date > 0 {
		writeTime(b, p.date)
	}
	b.WriteString("</li>\n")
}

// A Part is a range of messages of a session, rendered for embedding in the caller's page.
type Part struct {
	Title    string
	Header   []byte // the title, and the sums of these messages
	Prompts  []byte // their table
	Messages []byte
}

// Render renders the messages of a session from index from up to, but excluding, to.
func Render(s Session, from, to int) (Part, error) {
	w := newWriter(s)
	body, err := w.messages(from, to)
	if err != nil {
		return Part{}, err
	}
	var head, prompts bytes.Buffer
	title := w.title()
	w.header(&head, title)
	writePrompts(&prompts, w.prompts, "", len(w.prompts) <= 15)
	return Part{title, head.Bytes(), prompts.Bytes(), body.Bytes()}, nil
}

// Markup is HTML.
type Markup string

// Markupf returns HTML, formatted as by [fmt.Sprintf]. Strings among the arguments are texts that may come from anybody. They are
// escaped, and control characters and other hidden characters become visible; Markup is not.
func Markupf(text string, args ...any) Markup {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = entities.Replace(clean(s))
		}
	}
	return Markup(fmt.Sprintf(text, args...))
}

// Line returns at most n characters of the first non-empty line of a text, followed by "…" if the text
// has more.
func Line(s string, n int) string { return plain(clean(cut(s, n))) }

// Time returns a time, given in Unix seconds.
func Time(unix int64) Markup {
	var b bytes.Buffer
	writeTime(&b, unix)
	return Markup(b.String())
}
