// Command picture converts a terminal screen to an SVG image: text with SGR escape
// sequences (ECMA-48, section 8.3.117), as "tmux capture-pane -ep" prints it, on
// standard input; the image on standard output.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"
)

// Sizes in pixels of a cell of the grid, and of the frame around it.
const (
	cellWidth, cellHeight, fontSize = 8.4, 18.0, 14
	padding, titleHeight            = 16.0, 28.0
)

// palette holds the 16 basic colours.
var palette = [16]string{
	"#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
	"#5c6370", "#ff7a85", "#b5e890", "#ffd68a", "#82c4ff", "#e29bf5", "#7fdbe6", "#ffffff",
}

const (
	foreground = "#d7dae0"
	background = "#1e2127"
)

// A style is the appearance of text, as far as the terminals on the pictures use it. An empty colour means the default.
type style struct {
	fg                string
	bold, dim, invert bool
}

// A run is a piece of a line in one style, with the column where it starts.
type run struct {
	style
	column int
	text   string
}

func main() {
	lines, columns, err := read(os.Stdin)
	if err == nil {
		err = write(os.Stdout, lines, columns)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// read splits a screen into runs. columns is the width of the widest line.
func read(r io.Reader) (lines [][]run, columns int, err error) {
	var now style
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		var line []run
		column := 0
		rest := strings.TrimRight(scanner.Text(), " ")
		for rest != "" {
			if after, ok := strings.CutPrefix(rest, "\x1b["); ok {
				codes, tail, found := strings.Cut(after, "m")
				if !found {
					break
				}
				now.apply(strings.Split(codes, ";"))
				rest = tail
				continue
			}
			text := rest
			if i := strings.IndexByte(rest, '\x1b'); i == 0 {
				rest = rest[1:]
				continue
			} else if i > 0 {
				text = rest[:i]
			}
			line = append(line, run{now, column, text})
			column += len([]rune(text))
			rest = rest[len(text):]
		}
		lines, columns = append(lines, line), max(columns, column)
	}
	for len(lines) > 0 && len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines, columns, scanner.Err()
}

func (s *style) apply(codes []string) {
	for _, code := range codes {
		switch n, _ := strconv.Atoi(code); {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 7:
			s.invert = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 27:
			s.invert = false
		case n == 39:
			s.fg = ""
		case n >= 30 && n < 38:
			s.fg = palette[n-30]
		case n >= 90 && n < 98:
			s.fg = palette[n-82]
		case n == 38 || n == 48:
			return // a colour of a larger palette, which nothing here uses
		}
	}
}

func write(w io.Writer, lines [][]run, columns int) error {
	width := float64(columns)*cellWidth + 2*padding
	height := float64(len(lines))*cellHeight + padding + titleHeight
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(b, "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", background)
	for i, colour := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(b, "<circle cx=\"%d\" cy=\"14\" r=\"5\" fill=\"%s\"/>\n", 18+i*18, colour)
	}
	fmt.Fprintf(b, "<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace\" font-size=\"%d\" fill=\"%s\" xml:space=\"preserve\">\n", fontSize, foreground)
	for y, line := range lines {
		top := titleHeight + float64(y)*cellHeight
		for _, r := range line {
			writeRun(b, r, padding+float64(r.column)*cellWidth, top)
		}
	}
	fmt.Fprint(b, "</g>\n</svg>\n")
	return b.Flush()
}

func writeRun(w io.Writer, r run, x, top float64) {
	fg := r.fg
	width := float64(len([]rune(r.text))) * cellWidth
	if r.invert {
		fmt.Fprintf(w, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, top, width, cellHeight, cmp.Or(fg, foreground))
		fg = background
	}
	if strings.TrimSpace(r.text) == "" {
		return
	}
	attributes := ""
	if fg != "" {
		attributes += " fill=\"" + fg + "\""
	}
	if r.bold {
		attributes += " font-weight=\"bold\""
	}
	if r.dim {
		attributes += " opacity=\"0.6\""
	}
	fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\"%s>%s</text>\n", x, top+13.5, width, attributes, html.EscapeString(r.text))
}
