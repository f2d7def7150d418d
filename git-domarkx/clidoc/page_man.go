package clidoc

import (
	"fmt"
	"strings"
)

// ManName returns the file name of the manual page.
func (p *Page) ManName() string { return Dashed(p.Name) + ".1" }

// Dashed returns the name of a command with hyphens for spaces.
func Dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }

// Man returns the page for man(1), in the macros of man(7).
func (p *Page) Man() string {
	var b strings.Builder
	title := Dashed(p.Name)
	fmt.Fprintf(&b, ".\\\" Made from the command model by go generate.\n.TH %s 1 \"\" \"git-domarkx\" \"Git Manual\"\n", strings.ToUpper(roff(title)))
	b.WriteString(".nh\n.ad l\n")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n\\fB%s\\fR\n.fi\n", roff(title), roff(lowerFirst(p.Summary)), roff(p.Usage))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(g.title)))
		for _, c := range g.commands {
			fmt.Fprintf(&b, ".TP\n\\fBgit\\-domarkx\\-%s\\fR(1)\n%s.\n", roff(Dashed(c.Term)), roff(c.Text))
		}
	}
	if len(p.Body) > 0 && p.Body[0].kind != heading {
		b.WriteString(".SH DESCRIPTION\n")
	}
	for i, bl := range p.Body {
		switch bl.kind {
		case heading:
			fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(bl.text)))
		case literal:
			if i > 0 && p.Body[i-1].kind != heading {
				b.WriteString(".PP\n")
			}
			fmt.Fprintf(&b, ".RS 4\n.nf\n%s\n.fi\n.RE\n", roff(bl.text))
		case listItem:
			fmt.Fprintf(&b, ".IP \\(bu 2\n%s\n", roffText(bl.text))
		default:
			if i > 0 && p.Body[i-1].kind != heading {
				b.WriteString(".PP\n")
			}
			fmt.Fprintf(&b, "%s\n", roffText(bl.text))
		}
	}
	for _, section := range p.sections() {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(section.title))
		for _, it := range section.commands {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(it.Term), roffText(it.Text))
		}
	}
	if p.Verb != "" {
		b.WriteString(".SH SEE ALSO\n\\fBgit\\-domarkx\\fR(1)\n")
	}
	return b.String()
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`, "'", `\(aq`, "…", "...", "→", "->")

// roff escapes text so that troff prints it literally.
func roff(s string) string { return guarded(roffEscapes.Replace(s)) }

// guarded escapes dots at the beginning of lines, which troff would read as requests.
func guarded(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+s, "\n.", "\n\\&."), "\n")
}

// roffText is like [roff], but shows text in backquotes in bold.
func roffText(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			b.WriteString(`\fB` + roff(part) + `\fR`)
		} else {
			b.WriteString(roff(part))
		}
	}
	var wrapped strings.Builder
	wrap(&wrapped, "", "", b.String())
	return guarded(strings.TrimSuffix(wrapped.String(), "\n"))
}
