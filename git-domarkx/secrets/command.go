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
	for i := 0; ; { // up to the end of the command, including continuation lines
		n := bytes.IndexByte(line[i:], '\n')
		if n < 0 {
			break
		}
		if i += n; !bytes.HasSuffix(bytes.TrimRight(line[:i], "\r"), []byte(`\`)) {
			line = line[:i]
			break
		}
		i++
	}
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
	for !attached && i < len(line) && (line[i] == ' ' || line[i] == '=') {
		i++
	}
	start = i
	if i < len(line) && (line[i] == '"' || line[i] == '\'') {
		if n := bytes.IndexByte(line[i+1:], line[i]); n >= 0 {
			return i + 1, i + 1 + n
		}
	}
	for i < len(line) && strings.IndexByte(" \t\r\n\"'`;|&)\\", line[i]) < 0 {
		i++
	}
	return start, i
}

// findNetrc appends the password of a machine in a line of .netrc.
func findNetrc(found []match, text []byte, offset int) []match {
	fields := 0
	previous := ""
	for i := 0; i < len(text) && fields < 8; fields++ {
		for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
		}
		from := i
		for i < len(text) && strings.IndexByte(" \t\r\n\"'`", text[i]) < 0 {
			i++
		}
		if i == from {
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
