package web

import (
	"fmt"

	"github.com/domarkx/domarkx/format/html"
)

// A page of a session ends after so many messages or bytes of text. It has at least one message.
const (
	messagesShown = 300
	textShown     = 1 << 20
)

// pageEnds returns for each page of a snapshot the index after its last message. There is at least one page.
func pageEnds(shown html.Session) (ends []int) {
	first, size, count := 0, int64(0), shown.Messages.Len()
	for k := range count {
		more := shown.Size(k)
		if k > first && (k-first == messagesShown || size+more > textShown) {
			ends = append(ends, k)
			first, size = k, 0
		}
		size += more
	}
	return append(ends, count)
}

// renderPage returns page n of a snapshot, and which messages are on it.
func renderPage(shown html.Session, ends []int, n int) (part html.Part, which string, err error) {
	from, to := 0, ends[n-1]
	if n > 1 {
		from = ends[n-2]
	}
	part, err = html.Render(shown, from, to)
	return part, fmt.Sprintf("messages %d to %d", from, to-1), err
}

// pageLinks returns links from page n of a snapshot to the neighbours of that page, the first one and the last. address returns
// the address of a page.
func pageLinks(address func(k int) string, n, last int, shown string) html.Markup {
	if last == 1 {
		return ""
	}
	links := html.Markup("")
	linked := 0
	for _, k := range []int{1, n - 1, n + 1, last} {
		if k <= linked || k > last || k == n {
			continue
		}
		linked = k
		links += link(address(k), fmt.Sprintf("Page %d", k))
	}
	return nav(links, html.Markupf("<span class=\"meta\">Page %d of %d, %s</span>", n, last, shown)) + "\n"
}
