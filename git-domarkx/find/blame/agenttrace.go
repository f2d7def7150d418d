package blame

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// AgentTrace returns lines of a file as a record of Agent Trace 0.1.0
// (https://github.com/cursor/agent-trace). id identifies the record, revision is the commit of the
// work tree, and url, if not "", is the address of the repository's sessions.
func AgentTrace(path string, lines []Line, id, revision string, when time.Time, program string) jsonvalue.Value {
	type key struct {
		session, model string
		message        int
		source         Source
	}
	var order []key
	ranges := map[key][]jsonvalue.Value{}
	for i := 0; i < len(lines); {
		k := key{lines[i].Session, lines[i].Model, lines[i].Message, lines[i].Source}
		end := i
		for end+1 < len(lines) && lines[end+1].Number == lines[end].Number+1 && (key{lines[end+1].Session, lines[end+1].Model, lines[end+1].Message, lines[end+1].Source}) == k {
			end++
		}
		if _, ok := ranges[k]; !ok {
			order = append(order, k)
		}
		ranges[k] = append(ranges[k], jsonvalue.ObjectOf("start_line", lines[i].Number, "end_line", lines[end].Number))
		i = end + 1
	}
	conversations := []jsonvalue.Value{}
	for _, k := range order {
		var members []any
		contributor := jsonvalue.ObjectOf("type", contributors[k.source])
		if k.model != "" {
			contributor = contributor.With("model_id", jsonvalue.StringValue(k.model))
		}
		if k.source == Session {
			address := url.URL{Scheme: "domarkx", Path: "/sessions/" + k.session}
			if k.message >= 0 {
				address.Path += "/messages/" + strconv.Itoa(k.message)
			}
			members = append(members, "url", jsonvalue.StringValue(fmt.Sprintf("domarkx://%s", address.EscapedPath())))
		}
		conversations = append(conversations, jsonvalue.ObjectOf(append(members, "contributor", contributor, "ranges", jsonvalue.ArrayValue(ranges[k]...))...))
	}
	record := []any{"version", "0.1.0", "id", id, "timestamp", when.UTC().Format(time.RFC3339)}
	if revision != "" {
		record = append(record, "vcs", jsonvalue.ObjectOf("type", "git", "revision", revision))
	}
	return jsonvalue.ObjectOf(append(record,
		"tool", jsonvalue.ObjectOf("name", "git-domarkx", "version", program),
		"files", jsonvalue.ArrayValue(jsonvalue.ObjectOf("path", path, "conversations", jsonvalue.ArrayValue(conversations...))))...)
}

// contributors are the terms of Agent Trace for the kinds of authors.
var contributors = map[Source]string{Person: "human", Session: "ai", Unclear: "unknown", Expired: "unknown"}
