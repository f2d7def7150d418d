package markdown

// A section is the text before the first heading, or one message. Its offsets
// count in the text that was scanned.
type section struct {
	role     string // of the heading, in lower case; "" for the text before the first
	start    int
	segments []segment
	unclosed string // the fence that would close the block that the end of the text left open
}

// A segment is a part of a section: a top-level fenced code block, or Markdown
// between two of them.
type segment struct {
	code       bool
	start, end int   // including the fences
	slashes    []int // of Markdown: offsets of the backslashes that are only escapes

	fence     fence // of code: its opening fence, and the lines between the fences
	bodyStart int
	bodyEnd   int

	quotes int  // of Markdown: the number of its top-level blockquotes
	other  bool // of Markdown: whether it has anything other than blockquotes
}

// sections scans text and passes each section to visit; the first is the text before the first
// heading.
func sections(text []byte, visit func(section) error) error {
	return split(text, false, visit)
}

// split is sections, or, if the text is the content of one message, without headings of messages and escapes.
func split(text []byte, isContent bool, visit func(section) error) error {
	var sc scanner
	sec := section{}
	seg := segment{}
	flush := func(at int) { // ends the open segment
		seg.end = at
		if seg.end > seg.start {
			sec.segments = append(sec.segments, seg)
		}
		seg = segment{start: at}
	}
	for at := 0; at < len(text); {
		line, next := cutLine(text, at)
		slash := -1
		if !isContent {
			slash = findSlash(&sc, line)
		}
		switch sc.feed(line) {
		case eventBoundary:
			if isContent {
				seg.other = true
				break
			}
			flush(at)
			if err := visit(sec); err != nil {
				return err
			}
			sec = section{role: sc.role, start: at}
			seg = segment{start: next}
		case eventFenceBegin:
			flush(at)
			seg = segment{code: true, start: at, fence: sc.fence, bodyStart: next, bodyEnd: next}
		case eventFenceBody:
			seg.bodyEnd = next
		case eventFenceEnd:
			flush(next)
		case eventText:
			seg.note(&sc, line)
			if slash >= 0 {
				seg.slashes = append(seg.slashes, at+slash)
			}
		}
		at = next
	}
	if seg.code {
		sec.unclosed = seg.fence.String()
	}
	flush(len(text))
	return visit(sec)
}

// note records the structure that a scanned line of Markdown belongs to.
func (seg *segment) note(sc *scanner, line []byte) {
	switch {
	case isBlank(line):
	case len(sc.open) == 0 || sc.open[0].item:
		seg.other = true
	case sc.fresh:
		seg.quotes++
	}
}

// findSlash returns the offset in the next line of a backslash that only prevents the line from
// beginning a message or including a file; -1 if there is none.
func findSlash(sc *scanner, line []byte) int {
	if h, ok := matchRole(line); ok && h.backslashes > 0 && sc.outside(line) {
		return h.at
	}
	if d, ok := matchDirective(line); ok && d.backslashes > 0 {
		return d.at
	}
	return -1
}
