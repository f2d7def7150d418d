package remote

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/refdb"
)

// parsePush parses the output of git push --porcelain (git-push(1), OUTPUT). For each URL of the remote, git prints a
// line "To URL", and then for each reference a line "FLAG TAB FROM:TO TAB SUMMARY" whose summary may end in a reason in
// parentheses. A reference that one URL rejects has that result, even if other URLs accept it. said reports whether the
// output mentions any of the references.
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
	if len(fields) != 3 {
		return "", Result{}, false
	}
	_, ref, ok = strings.Cut(fields[1], ":")
	if !ok {
		return "", Result{}, false
	}
	if fields[0] == "!" {
		return ref, rejection(fields[2]), true
	}
	status, ok := accepted[fields[0]]
	return ref, Result{Status: status}, ok
}

// accepted are the statuses of references that the remote has accepted, by their flags.
var accepted = map[string]Status{" ": Updated, "+": Updated, "*": Created, "-": Deleted, "=": UpToDate}

// lost lists the reasons that git receive-pack gives when somebody has moved or locked a reference, or another one of the
// same atomic push, since it was advertised.
var lost = []string{"atomic transaction failed", "failed to update ref", "failed to lock", "incorrect old value provided",
	"reference already exists", "reference does not exist"}

// rejection parses the summary of a rejected reference: "[rejected] (REASON)" by the local git, or
// "[remote rejected] (REASON)".
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
