package markdown

// A cursor moves through a line by columns; a tab reaches to the next multiple of
// four (CommonMark 0.31, section 2.2) and may be passed in part.
type cursor struct {
	line []byte
	pos  int // of the next byte
	col  int // of it; inside a tab that was passed in part, a column of that tab
}

// blanks returns how many columns of white space follow, and where they end.
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

// indent returns how many columns of white space follow.
func (c *cursor) indent() int {
	n, _ := c.blanks()
	return n
}

// rest returns the line after the white space that follows.
func (c *cursor) rest() []byte {
	_, end := c.blanks()
	return c.line[end:]
}

// blank reports whether only white space follows.
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

// quote skips a blockquote marker indented by that many columns, and the blank that belongs to it.
func (c *cursor) quote(indent int) {
	c.advance(indent)
	c.skip(1)
	c.advance(1)
}
