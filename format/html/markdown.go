package html

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits that bound the time to render a hostile message.
const (
	maxMarkdown = 256 << 10 // bytes; a longer text is shown without rendering
	maxNesting  = 40        // depth of nested quotes and lists
	maxBrackets = 2000      // number of unusual [, ( and * in one paragraph; a paragraph with more is shown without rendering
	maxImage    = 8 << 20   // bytes per image
)

// A markdownWriter renders Markdown.
type markdownWriter struct {
	markdown goldmark.Markdown
	file     func(path string) ([]byte, error)
	images   int64 // bytes of images so far
}

func newMarkdown(file func(path string) ([]byte, error)) *markdownWriter {
	w := &markdownWriter{file: file}
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)) // the policy allows no style attribute
	w.markdown = goldmark.New(
		goldmark.WithExtensions(table, extension.Strikethrough, extension.TaskList, extension.Linkify),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(w, 1))))
	return w
}

// write renders Markdown.
func (w *markdownWriter) write(dst *bytes.Buffer, source string) error {
	source = clean(source)
	if strings.TrimSpace(source) == "" {
		return nil
	}
	if !isTame(source) {
		dst.WriteString(`<pre class="plain">`)
		escape(dst, source) // it may be large
		dst.WriteString("</pre>\n")
		return nil
	}
	data := []byte(source)
	doc := w.markdown.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext()))
	start := dst.Len()
	if err := w.markdown.Renderer().Render(dst, data, doc); err != nil {
		return err
	}
	if bytes.IndexByte(data, '&') >= 0 { // a character reference may have become a hidden character
		if page := string(dst.Bytes()[start:]); !isClean(page) {
			dst.Truncate(start)
			dst.WriteString(clean(page))
		}
	}
	return nil
}

// isTame reports whether the time to render a text is linear in its length. Markdown parsers are slow
// for deep nesting and for many unclosed brackets.
func isTame(s string) bool {
	if len(s) > maxMarkdown {
		return false
	}
	odd := 0
	for line := range strings.Lines(s) {
		if nesting(line) > maxNesting {
			return false
		}
		if strings.TrimSpace(line) == "" {
			odd = 0
			continue
		}
		odd += strings.Count(line, "[") + strings.Count(line, "*") + strings.Count(line, "_") + strings.Count(line, "`") + strings.Count(line, "<") + strings.Count(line, "~") + strings.Count(line, "|") + strings.Count(line, "(")
		if odd > maxBrackets {
			return false
		}
	}
	return true
}

// nesting counts the markers of quotes and lists at the beginning of a line, and its
// indentation in steps of two.
func nesting(line string) int {
	n, blanks := 0, 0
	for _, c := range line {
		switch {
		case c == ' ':
			blanks++
		case c == '\t':
			blanks += 4
		case strings.ContainsRune(">-+*", c):
			n++
		case c >= '0' && c <= '9' || c == '.' || c == ')':
		default:
			return n + min(blanks/8, maxNesting/2)
		}
		if n > maxNesting {
			return n
		}
	}
	return n
}

// RegisterFuncs sets the functions for nodes that are not rendered as usual.
func (w *markdownWriter) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	for kind, write := range map[ast.NodeKind]func(b *bytes.Buffer, source []byte, n ast.Node){
		ast.KindHTMLBlock: rawBlock, ast.KindRawHTML: rawInline, ast.KindAutoLink: autoLink, ast.KindImage: w.image,
		ast.KindCodeBlock: code, ast.KindFencedCodeBlock: code,
	} {
		r.Register(kind, func(dst util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			var b bytes.Buffer
			if entering {
				write(&b, source, n)
			}
			_, err := dst.Write(b.Bytes())
			return ast.WalkSkipChildren, err
		})
	}
	r.Register(ast.KindLink, link)
	r.Register(ast.KindHeading, heading)
}

func rawBlock(b *bytes.Buffer, source []byte, n ast.Node) {
	text := string(lines(n, source))
	if block := n.(*ast.HTMLBlock); block.HasClosure() {
		text += string(block.ClosureLine.Value(source))
	}
	writef(b, "<pre class=\"plain\">%s</pre>\n", text)
}

func rawInline(b *bytes.Buffer, source []byte, n ast.Node) {
	segments := n.(*ast.RawHTML).Segments
	for i := range segments.Len() {
		s := segments.At(i)
		escape(b, string(s.Value(source)))
	}
}

// lines returns the text of a block.
func lines(n ast.Node, source []byte) []byte {
	var b []byte
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b = append(b, line.Value(source)...)
	}
	return b
}

// safe reports whether a link to a URL may be rendered as a link.
func safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	scheme := strings.ToLower(u.Scheme)
	return (scheme == "http" || scheme == "https") && u.Host != "" || scheme == "mailto" && u.Opaque != ""
}

// resolved returns a destination or a text without backslash escapes and character references.
func resolved(source []byte) string {
	return clean(string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(source)))))
}

// isInLink reports whether a node is in the text of a link. HTML has no links in links.
func isInLink(n ast.Node) bool {
	for n = n.Parent(); n != nil; n = n.Parent() {
		if link, ok := n.(*ast.Link); ok && safe(resolved(link.Destination)) {
			return true
		}
	}
	return false
}

// linkTags returns the tags around a link's text, or, if the link is not safe, around a text with the URL as its title.
func linkTags(address string) (begin, end string) {
	if safe(address) {
		return `<a rel="noreferrer noopener" href="` + entities.Replace(address) + `">`, "</a>"
	}
	return `<span class="nolink" title="` + entities.Replace(cut(address, 200)) + `">`, "</span>"
}

func link(dst util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, end := linkTags(resolved(n.(*ast.Link).Destination))
	if !entering {
		tag = end
	}
	_, err := dst.WriteString(tag)
	return ast.WalkContinue, err
}

// writeLink writes a node that is a link, unless it is in another.
func writeLink(b *bytes.Buffer, n ast.Node, address, label string) {
	begin, end := "", ""
	if !isInLink(n) {
		begin, end = linkTags(address)
	}
	writef(b, "%s%s%s", Markup(begin), label, Markup(end))
}

func autoLink(b *bytes.Buffer, source []byte, n ast.Node) {
	link := n.(*ast.AutoLink)
	address := string(link.URL(source))
	if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	writeLink(b, n, address, string(link.Label(source)))
}

// image shows an image that is stored in the session. Any other image becomes a link.
func (w *markdownWriter) image(b *bytes.Buffer, source []byte, n ast.Node) {
	address, alt := resolved(n.(*ast.Image).Destination), resolved(n.Text(source)) //nolint:staticcheck // the text is all that is needed
	if data := w.load(address); data != nil && w.images+int64(len(data)) <= maxImages {
		w.images += int64(len(data))
		writeImage(b, data, alt)
		return
	}
	b.WriteString(`<span class="image">`)
	writeLink(b, n, address, "image: "+cmp.Or(alt, cut(address, 100)))
	b.WriteString("</span>")
}

// load returns the bytes of an image that is in the document or stored in the session; nil for any
// other.
func (w *markdownWriter) load(address string) []byte {
	if rest, ok := strings.CutPrefix(address, "data:image/"); ok {
		_, encoded, ok := strings.Cut(rest, ";base64,")
		if !ok || len(encoded) > maxImage*4/3 {
			return nil
		}
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil
		}
		return data
	}
	if path, err := url.PathUnescape(address); err == nil && w.file != nil && !strings.Contains(address, ":") {
		if data, err := w.file(path); err == nil && len(data) <= maxImage {
			return data
		}
	}
	return nil
}

// ImageType returns the type of an image that browsers show and that cannot contain scripts; "" for any
// other content. data may be its first 512 bytes.
func ImageType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	if len(data) >= 12 && (string(data[4:12]) == "ftypavif" || string(data[4:12]) == "ftypavis") {
		return "image/avif"
	}
	return ""
}

// writeImage writes an image, or its text if browsers cannot show it.
func writeImage(b *bytes.Buffer, data []byte, alt string) {
	if kind := ImageType(data); kind != "" {
		writef(b, `<img alt="%s" src="data:%s;base64,%s">`, alt, kind, Markup(base64.StdEncoding.EncodeToString(data)))
		return
	}
	writef(b, `<span class="image">image: %s</span>`, alt)
}

// heading lowers the levels of headings in a message below those of the page.
func heading(dst util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "<h"
	if !entering {
		tag = "</h"
	}
	_, err := dst.WriteString(tag + strconv.Itoa(min(n.(*ast.Heading).Level+2, 6)) + ">")
	return ast.WalkContinue, err
}

func code(b *bytes.Buffer, source []byte, n ast.Node) {
	language := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(f.Language(source))
	}
	writeCode(b, language, string(lines(n, source)))
}
