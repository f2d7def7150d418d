package secrets

import (
	"bytes"
	"strings"
)

// findCommand appends the passwords in the arguments of a command, or in a line of .netrc, that
// begins at start.
func findCommand(found []match, text []byte, start, end int) []match {
	if start > 0 && isName(text[start-1]) {
		return found
	}
	command := strings.ToLower(string(text[start:end]))
	line := text[end:min(len(text), end+1024)]
	if command == "machine " {
		return findNetrc(found, line, end)
	}
	size := 0 // of the command, with continuation lines
	for part := range bytes.Lines(line) {
		if size += len(part); !bytes.HasSuffix(bytes.TrimRight(part, "\r\n"), []byte(`\`)) {
			break
		}
	}
	line = line[:size]
	flags := map[string][]string{"curl": {" -u", " --user", " --proxy-user"}, "wget": {" --http-password", " --password", " --ftp-password"},
		"sshpass": {" -p"}, "mysql": {" -p"}, "docker login": {" -p"}}[command]
	for _, flag := range flags {
		for from := 0; ; {
			n := bytes.Index(line[from:], []byte(flag))
			if n < 0 {
				break
			}
			from += n + len(flag)
			first, last := argument(line, from, command == "mysql")
			if command == "curl" {
				if colon := bytes.IndexByte(line[first:last], ':'); colon >= 0 {
					first += colon + 1
				} else {
					continue
				}
			}
			value := string(line[first:last])
			if len(value) >= 4 && !isPlaceholder(value) && !strings.ContainsAny(value, "$<>{}") {
				found = append(found, match{rule: "command-line-password", start: end + first, end: end + last, weak: true})
			}
		}
	}
	return found
}

// argument returns the value of an option whose name ends at i. An attached value follows the name
// without a blank.
func argument(line []byte, i int, attached bool) (start, end int) {
	if !attached {
		i = skip(line, i, len(line), " =")
	}
	if i < len(line) && (line[i] == '"' || line[i] == '\'') {
		if n := bytes.IndexByte(line[i+1:], line[i]); n >= 0 {
			return i + 1, i + 1 + n
		}
	}
	return i, until(line, i, len(line), " \t\r\n\"'`;|&)\\")
}

// findNetrc appends the password of a machine in a line of .netrc.
func findNetrc(found []match, text []byte, offset int) []match {
	fields := 0
	previous := ""
	for i := 0; i < len(text) && fields < 8; fields++ {
		from := skip(text, i, len(text), " \t\r\n")
		if i = until(text, from, len(text), " \t\r\n\"'`"); i == from {
			break
		}
		value := string(text[from:i])
		if fields%2 == 1 && value != "login" && value != "account" && value != "password" {
			break // a sentence
		}
		if previous == "password" && fields >= 3 && len(value) >= 4 && !isPlaceholder(value) {
			return append(found, match{rule: "command-line-password", start: offset + from, end: offset + i, weak: true})
		}
		previous = value
	}
	return found
}
