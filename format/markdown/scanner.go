package markdown

import "bytes"

// maxContainers limits the nesting of blockquotes and list items that the scanner follows; deeper ones
// are treated as text.
const maxContainers = 64

// A container is an open blockquote or list item (CommonMark 0.31, section 5).
type container struct {
	item  bool
	width int  // of a list item: the columns by which its lines are indented
	empty bool // a list item that began with a blank line and has no content yet
}

type leaf uint8

const (
	leafNone leaf = iota
	leafParagraph
	leafFence
)

type event uint8

const (
	eventText       event = iota // a line of Markdown
	eventBoundary                // the heading that begins a message
	eventFenceBegin              // the opening, the content and the closing line of a
	eventFenceBody               // fenced code block that is not inside anything
	eventFenceEnd
)

// A scanner follows the block structure of CommonMark (0.31) line by line, as far as needed to find
// the top level: lists, blockquotes, paragraphs (with lazy continuation), fenced and indented code,
// headings and thematic breaks. It treats HTML blocks and link reference definitions as paragraphs.
// The zero scanner is at the start of a document or after a top-level heading, where nothing is
// open.
//
// It decides which bytes belong to which message in all future versions of this program, so it is
// not a library's, whose output may change. goldmark is the oracle in its tests.
type scanner struct {
	open  []container
	leaf  leaf
	fence fence  // when leaf is leafFence
	role  string // of the last boundary
	fresh bool   // the last line began a top-level container
}

// feed takes the next line, without its line end.
func (s *scanner) feed(line []byte) event {
	s.fresh = false
	if len(s.open) == 0 {
		if s.leaf == leafFence {
			if indent := leadingSpaces(line, 4); indent < 4 && s.fence.closedBy(line[indent:]) {
				s.leaf = leafNone
				return eventFenceEnd
			}
			return eventFenceBody
		}
		if len(line) > 0 && (line[0]|0x20 >= 'a' && line[0]|0x20 <= 'z' || line[0] >= 0x80) {
			s.leaf = leafParagraph // by far the most lines
			return eventText
		}
	}
	c := cursor{line: line}
	matched := s.match(&c)
	inside := matched == len(s.open)
	if inside && s.leaf == leafFence {
		if c.indent() < 4 && s.fence.closedBy(c.rest()) {
			s.leaf = leafNone
		}
		return eventText
	}
	return s.start(&c, matched, inside)
}

// match returns the number of open containers that the line continues, and skips their markers.
func (s *scanner) match(c *cursor) int {
	blank := c.blank()
	for i := range s.open {
		o := &s.open[i]
		switch {
		case o.item && blank:
			if o.empty {
				return i
			}
		case o.item:
			if c.indent() < o.width {
				return i
			}
			c.advance(o.width)
			o.empty = false
		default:
			indent := c.indent()
			if blank || indent > 3 || c.rest()[0] != '>' {
				return i
			}
			c.quote(indent)
			blank = c.blank()
		}
	}
	return len(s.open)
}

// start opens the blocks that begin in the rest of the line.
func (s *scanner) start(c *cursor, matched int, inside bool) event {
	paragraph := inside && s.leaf == leafParagraph // that the line could continue
	lazy := s.leaf == leafParagraph                // no block was opened yet
	begin := func() {
		s.open = s.open[:matched]
		s.leaf, paragraph, lazy = leafNone, false, false
	}
	for matched < maxContainers {
		indent := c.indent()
		rest := c.rest()
		if indent > 3 || len(rest) == 0 {
			break
		}
		switch rest[0] {
		case '>':
			begin()
			c.quote(indent)
			s.push(container{}, &matched)
			continue
		case '#':
			if n := run(rest, '#'); n <= 6 && (n == len(rest) || rest[n] == ' ' || rest[n] == '\t') {
				begin()
				if h, ok := matchRole(c.line); ok && matched == 0 {
					s.role = h.role
					return eventBoundary
				}
				return eventText
			}
		case '`', '~':
			if f, ok := matchFence(rest); ok {
				begin()
				f.indent = indent
				s.leaf, s.fence = leafFence, f
				if matched == 0 {
					return eventFenceBegin
				}
				return eventText
			}
		case '=', '-', '*', '_', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if paragraph && isSetextUnderline(rest) || isThematicBreak(rest) {
				begin()
				return eventText
			}
			if item, ok := matchItem(c, indent, paragraph); ok {
				begin()
				s.push(item, &matched)
				continue
			}
		}
		break
	}
	switch {
	case c.blank():
		s.open, s.leaf = s.open[:matched], leafNone
	case lazy:
		// the paragraph goes on, also where its containers are not continued
	default:
		s.open = s.open[:matched]
		s.leaf = leafNone
		if c.indent() < 4 {
			s.leaf = leafParagraph
		}
	}
	return eventText
}

func (s *scanner) push(c container, matched *int) {
	s.open = append(s.open[:*matched], c)
	if *matched == 0 {
		s.fresh = true
	}
	*matched++
}

// outside reports whether a line that is not itself a blockquote or list item is
// in no open container nor code block.
func (s *scanner) outside(line []byte) bool {
	if len(s.open) == 0 {
		return s.leaf != leafFence
	}
	c := cursor{line: line}
	return !s.open[0].item || c.indent() < s.open[0].width
}

// isSetextUnderline matches the line under a setext heading.
func isSetextUnderline(s []byte) bool {
	n := run(s, s[0])
	return (s[0] == '=' || s[0] == '-') && isBlank(s[n:])
}

// isThematicBreak matches three or more of one of - _ * with blanks between.
func isThematicBreak(s []byte) bool {
	mark := s[:1]
	return bytes.Contains([]byte("-_*"), mark) && len(bytes.TrimLeft(s, string(mark)+" \t")) == 0 && bytes.Count(s, mark) >= 3
}

// matchItem matches a list marker and moves past it. A paragraph is only
// interrupted by an item that has content and, if numbered, starts at 1.
func matchItem(c *cursor, indent int, paragraph bool) (container, bool) {
	s := c.rest()
	digits := 0
	for digits < len(s) && digits < 10 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	switch {
	case digits == 0:
		if s[0] != '-' && s[0] != '+' && s[0] != '*' {
			return container{}, false
		}
	case digits > 9, digits == len(s), s[digits] != '.' && s[digits] != ')', paragraph && string(s[:digits]) != "1":
		return container{}, false
	}
	marker := digits + 1
	after := s[marker:]
	if len(after) > 0 && after[0] != ' ' && after[0] != '\t' {
		return container{}, false
	}
	blank := isBlank(after)
	if blank && paragraph {
		return container{}, false
	}
	c.advance(indent)
	c.skip(marker)
	item := container{item: true, width: indent + marker + 1, empty: blank}
	if n := c.indent(); blank || n > 4 {
		c.advance(1)
	} else {
		c.advance(n)
		item.width += n - 1
	}
	return item, true
}

// A cursor moves through a line by columns; a tab reaches to the next multiple of
// four (CommonMark 0.31, section 2.2) and may be passed in part.
type cursor struct {
	line []byte
	pos  int // offset of the next byte
	col  int // column of that byte, or, after part of a tab was consumed, a column inside the tab
}

// blanks returns the number of columns of white space ahead, and the offset where they end.
func (c *cursor) blanks() (columns, end int) {
	col, pos := c.col, c.pos
	for pos < len(c.line) {
		switch c.line[pos] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col, pos
		}
		pos++
	}
	return col - c.col, pos
}

// indent returns the number of columns of white space ahead.
func (c *cursor) indent() int {
	n, _ := c.blanks()
	return n
}

// rest returns the rest of the line without leading white space.
func (c *cursor) rest() []byte {
	_, end := c.blanks()
	return c.line[end:]
}

// blank reports whether the rest of the line is white space.
func (c *cursor) blank() bool { return len(c.rest()) == 0 }

// advance skips up to n columns of white space.
func (c *cursor) advance(n int) {
	for n > 0 && c.pos < len(c.line) {
		width := 1
		switch c.line[c.pos] {
		case ' ':
		case '\t':
			width = 4 - c.col%4
		default:
			return
		}
		if width > n {
			c.col += n
			return
		}
		c.col += width
		c.pos++
		n -= width
	}
}

// skip skips n bytes that are not tabs.
func (c *cursor) skip(n int) {
	c.pos += n
	c.col += n
}

// quote skips a blockquote marker that is indented by indent columns, and the optional space after it.
func (c *cursor) quote(indent int) {
	c.advance(indent)
	c.skip(1)
	c.advance(1)
}
