package remote

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/refdb"
)

// parsePush parses the output of git push --porcelain: for each URL a line "To URL", then
// for each reference FLAG TAB FROM:TO TAB SUMMARY, optionally with a reason in parentheses
// (git-push(1), OUTPUT). If a remote has several URLs, the worst result counts. said
// reports whether the output mentions any of the references.
func parsePush(out []byte, changes []refdb.Change) (results []Result, said bool) {
	results = make([]Result, len(changes))
	place := make(map[string]int, len(changes))
	for i, change := range changes {
		results[i] = Result{Ref: change.Ref, Status: Unknown}
		place[change.Ref] = i
	}
	for line := range strings.Lines(string(out)) {
		ref, result, ok := parseLine(strings.TrimRight(line, "\n"))
		i, known := place[ref]
		if !ok || !known {
			continue
		}
		said = true
		result.Ref = ref
		if results[i].Status == Unknown || results[i].Status.OK() {
			results[i] = result
		}
	}
	return results, said
}

func parseLine(line string) (ref string, result Result, ok bool) {
	fields := strings.SplitN(line, "\t", 3)
	if len(fields) != 3 || len(fields[0]) != 1 {
		return "", Result{}, false
	}
	_, ref, ok = strings.Cut(fields[1], ":")
	if !ok {
		return "", Result{}, false
	}
	switch fields[0][0] {
	case ' ', '+':
		return ref, Result{Status: Updated}, true
	case '*':
		return ref, Result{Status: Created}, true
	case '-':
		return ref, Result{Status: Deleted}, true
	case '=':
		return ref, Result{Status: UpToDate}, true
	case '!':
		return ref, rejection(fields[2]), true
	}
	return "", Result{}, false
}

// lost are the messages of git receive-pack when a reference, or another one of an atomic
// push, was moved or locked after it was advertised.
var lost = []string{"atomic transaction failed", "failed to update ref", "failed to lock", "incorrect old value provided",
	"reference already exists", "reference does not exist"}

// rejection parses "[rejected] (REASON)" and "[remote rejected] (REASON)".
func rejection(summary string) Result {
	who, reason, _ := strings.Cut(summary, "] (")
	reason = words(strings.TrimSuffix(reason, ")"))
	if reason == "" {
		reason = words(summary)
	}
	switch {
	case slices.Contains(lost, reason):
		return Result{Status: Lost, Reason: reason}
	case strings.HasPrefix(reason, "atomic "):
		return Result{Status: NotTried, Reason: reason}
	case who == "[rejected":
		return Result{Status: Stale, Reason: reason}
	}
	return Result{Status: Refused, Reason: reason}
}
