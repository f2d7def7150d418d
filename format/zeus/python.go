package zeus

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/domarkx/domarkx/format/syntax"
)

// pythonWords are the words that Python writes and reads as numbers, although JSON has none.
var pythonWords = []string{"NaN", "Infinity", "-Infinity"}

// stringOrWord matches a JSON string, which may lack its end, or, as its first group, one of pythonWords.
var stringOrWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?\z)|(NaN|-?Infinity)`) })

// wordReports returns a report for each of pythonWords in a document.
func wordReports(path string, data []byte) []*syntax.Error {
	const most = 20
	var all []*syntax.Error
	more := 0
	for _, m := range stringOrWord().FindAllSubmatchIndex(data, -1) {
		switch {
		case m[2] < 0:
		case len(all) > most:
			more++
		default:
			line, column := syntax.Position(data, m[2])
			all = append(all, &syntax.Error{Path: path, Line: line, Column: column, Msg: string(data[m[2]:m[3]]) + " is not JSON, expected a value; it is read as a string"})
		}
	}
	if len(all) > most {
		all[most].Msg = fmt.Sprintf("from here on %d more words are not JSON; they are read as strings", more+1)
	}
	return all
}
