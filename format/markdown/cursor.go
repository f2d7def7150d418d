package markdown

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
