package main

// A style is a colour or weight of terminal text (ECMA-48, SGR).
type style string

// The styles.
const (
	plain style = ""
	bold  style = "\x1b[1m"
	dim   style = "\x1b[2m" // thoughts, results, and what is less important
	red   style = "\x1b[31m"
	green style = "\x1b[32m"
	cyan  style = "\x1b[36m"
	match style = "\x1b[1;31m" // as git grep
)

// color returns a function that applies a style to text, or leaves the text unchanged if colours are off. The first of these
// decides: --color, NO_COLOR (https://no-color.org), Git's color.domarkx and color.ui, whether the output is a terminal.
func (inv *invocation) color() func(style, string) string {
	if inv.colored == nil {
		on := inv.wantsColor()
		inv.colored = &on
	}
	if !*inv.colored {
		return func(_ style, s string) string { return s }
	}
	return func(st style, s string) string {
		if st == plain || s == "" {
			return s
		}
		return string(st) + s + "\x1b[m"
	}
}

func (inv *invocation) wantsColor() bool {
	switch {
	case inv.opts.Color != "auto":
		return inv.opts.Color == "always"
	case inv.getenv("NO_COLOR") != "":
		return false
	}
	auto := inv.out.tty && inv.getenv("TERM") != "dumb"
	for _, key := range []string{"color.domarkx", "color.ui"} {
		switch value, _ := inv.config(key); value {
		case "always":
			return true
		case "false", "never", "no", "off", "0":
			return false
		case "auto", "true", "yes", "on", "1":
			return auto
		}
	}
	return auto
}
