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
		ranges[k] = append(ranges[k], object("start_line", number(lines[i].Number), "end_line", number(lines[end].Number)))
		i = end + 1
	}
	conversations := []jsonvalue.Value{}
	for _, k := range order {
		var members []any
		contributor := object("type", jsonvalue.StringValue(k.source.contributor()))
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
		conversations = append(conversations, object(append(members, "contributor", contributor, "ranges", jsonvalue.ArrayValue(ranges[k]...))...))
	}
	record := []any{"version", jsonvalue.StringValue("0.1.0"), "id", jsonvalue.StringValue(id), "timestamp", jsonvalue.StringValue(when.UTC().Format(time.RFC3339))}
	if revision != "" {
		record = append(record, "vcs", object("type", jsonvalue.StringValue("git"), "revision", jsonvalue.StringValue(revision)))
	}
	return object(append(record,
		"tool", object("name", jsonvalue.StringValue("git-domarkx"), "version", jsonvalue.StringValue(program)),
		"files", jsonvalue.ArrayValue(object("path", jsonvalue.StringValue(path), "conversations", jsonvalue.ArrayValue(conversations...))))...)
}

// contributor returns the type of a contributor in Agent Trace.
func (s Source) contributor() string {
	switch s {
	case Session:
		return "ai"
	case Unclear, Expired:
		return "unknown"
	}
	return "human"
}

func number(n int) jsonvalue.Value { return jsonvalue.NumberValue(strconv.Itoa(n)) }

func object(members ...any) jsonvalue.Value {
	list := make([]jsonvalue.Member, 0, len(members)/2)
	for i := 0; i < len(members); i += 2 {
		list = append(list, jsonvalue.Member{Name: members[i].(string), Value: members[i+1].(jsonvalue.Value)})
	}
	return jsonvalue.ObjectValue(list...)
}
