package opencodedb

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// Sessions returns the sessions of the database, the oldest first.
func (d *DB) Sessions(ctx context.Context) ([]opencode.StoredSession, error) {
	if d.storage != nil {
		return d.storedSessions(ctx)
	}
	var all []opencode.StoredSession
	err := d.read(ctx, func() error {
		err := d.conn.Query("SELECT id, directory FROM session ORDER BY time_created, id", nil, func(s *sqlite3.Stmt) error {
			if id := text(s.Column(0)); id != "" {
				all = append(all, opencode.StoredSession{ID: id, Directory: text(s.Column(1))})
			}
			return nil
		})
		if err == nil {
			err = d.stamp(all)
		}
		return err
	})
	return all, err
}

// stamp sets the stamps of sessions: the times of the last changes to a session's rows, and the
// number of rows. Old versions of OpenCode do not record these times; their sessions get no stamp.
func (d *DB) stamp(all []opencode.StoredSession) error {
	at := make(map[string]int, len(all))
	parts := make([]strings.Builder, len(all))
	for i, s := range all {
		at[s.ID] = i
	}
	for _, sql := range []string{
		"SELECT id, 1, time_updated FROM session",
		"SELECT session_id, count(*), max(time_updated) FROM message GROUP BY session_id",
		"SELECT session_id, count(*), max(time_updated) FROM part GROUP BY session_id",
	} {
		err := d.conn.Query(sql, nil, func(s *sqlite3.Stmt) error {
			if i, ok := at[text(s.Column(0))]; ok {
				fmt.Fprintf(&parts[i], "%d:%d ", integer(s.Column(1)), integer(s.Column(2)))
			}
			return nil
		})
		if sqlite3.Primary(err) == sqlite3.Failed { // old databases lack the column
			return nil
		}
		if err != nil {
			return err
		}
	}
	for i := range all {
		all[i].Stamp = parts[i].String()
	}
	return nil
}

// LastModel returns the provider and the model of the last answer, in the form PROVIDER/MODEL; ""
// if there is none.
func (d *DB) LastModel(ctx context.Context) (model string, err error) {
	const rows = `SELECT m.data FROM session AS s JOIN message AS m ON m.session_id = s.id
		WHERE s.id IN (SELECT id FROM session ORDER BY time_updated DESC LIMIT 20) ORDER BY s.time_updated DESC, m.time_created DESC`
	err = d.read(ctx, func() error {
		return d.conn.Query(rows, nil, func(s *sqlite3.Stmt) error {
			var said struct {
				Role       string `json:"role"`
				ProviderID string `json:"providerID"`
				ModelID    string `json:"modelID"`
			}
			if model == "" && json.Unmarshal([]byte(text(s.Column(0))), &said) == nil && said.Role == "assistant" && said.ProviderID != "" && said.ProviderID != opencode.NoProvider {
				model = said.ProviderID + "/" + said.ModelID
			}
			return nil
		})
	})
	return model, err
}

// An exporting is the running export of one session.
type exporting struct {
	*DB
	out     *bufio.Writer
	id      string
	message string // id of the current message; "" for none
	parts   int    // number of parts of the current message
	skipped []string
}

// Export writes a session in the format of the command "opencode export". It omits and reports
// invalid rows. If the session does not exist, the error matches [domarkx.ErrNotFound].
func (d *DB) Export(ctx context.Context, id string, w io.Writer) (skipped []string, err error) {
	if d.storage != nil {
		out := bufio.NewWriterSize(w, 64<<10)
		if skipped, err = d.exportStored(ctx, id, out); err == nil {
			err = out.Flush()
		}
		return skipped, err
	}
	e := &exporting{DB: d, out: bufio.NewWriterSize(w, 64<<10), id: id}
	err = d.read(ctx, func() error {
		if err := e.info(); err != nil {
			return err
		}
		return e.messages()
	})
	if err != nil {
		return nil, fmt.Errorf("reading the session %q: %w", id, err)
	}
	return e.skipped, e.out.Flush()
}

// columns maps the members of an exported session to the columns of its row.
var columns = map[string]string{"id": "id", "slug": "slug", "project_id": "projectID", "parent_id": "parentID", "directory": "directory", "title": "title", "version": "version"}

func (e *exporting) info() error {
	found := false
	err := e.conn.Query("SELECT * FROM session WHERE id = ?", []any{e.id}, func(s *sqlite3.Stmt) error {
		var members []jsonvalue.Member
		var created, updated int64
		for i, column := range s.Columns() {
			value := s.Column(i)
			if name, ok := columns[column]; ok && text(value) != "" {
				members = append(members, jsonvalue.Member{Name: name, Value: jsonvalue.StringValue(text(value))})
			}
			switch column {
			case "time_created":
				created = integer(value)
			case "time_updated":
				updated = integer(value)
			}
		}
		found = true
		fmt.Fprintf(e.out, "{\n\"info\":%s,\n\"messages\":[", jsonvalue.ObjectValue(append(members, jsonvalue.Member{Name: "time", Value: transcript.Object("created", created, "updated", updated)})...).JSON())
		return nil
	})
	if err == nil && !found {
		err = domarkx.ErrNotFound
	}
	return err
}

// messages writes the messages with their parts. The query returns a row for each part, with the
// message repeated.
func (e *exporting) messages() error {
	const rows = `SELECT m.id, p.id, p.data, m.data FROM message AS m LEFT JOIN part AS p ON p.message_id = m.id
		WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`
	broken := ""
	err := e.conn.Query(rows, []any{e.id}, func(s *sqlite3.Stmt) error {
		id := text(s.Column(0))
		if id == broken || id == "" {
			return nil
		}
		if id != e.message {
			data := text(s.Column(3))
			if !isObject(data) {
				broken = id
				e.skipped = append(e.skipped, fmt.Sprintf("the message %q could not be read", id))
				return nil
			}
			if e.message != "" {
				e.out.WriteString("]},")
			}
			e.message, e.parts = id, 0
			e.out.WriteString("\n{\"info\":")
			e.object(data, "id", id, "sessionID", e.id)
			e.out.WriteString(",\"parts\":[")
		}
		part := text(s.Column(1))
		if part == "" {
			return nil
		}
		data := text(s.Column(2))
		if !isObject(data) {
			e.skipped = append(e.skipped, fmt.Sprintf("the part %q of message %q could not be read", part, id))
			return nil
		}
		if e.parts++; e.parts > 1 {
			e.out.WriteByte(',')
		}
		e.object(data, "id", part, "messageID", id, "sessionID", e.id)
		return nil
	})
	if e.message != "" {
		e.out.WriteString("]}")
	}
	e.out.WriteString("\n]}\n")
	return err
}

// isObject reports whether a column contains a JSON object.
func isObject(data string) bool {
	return strings.HasPrefix(strings.TrimLeft(data, " \t\r\n"), "{") && json.Valid([]byte(data))
}

// object writes a JSON object with additional members before its own.
func (e *exporting) object(data string, members ...string) {
	data = strings.TrimLeft(data, " \t\r\n")
	separator := byte('{')
	for i := 0; i < len(members); i += 2 {
		e.out.WriteByte(separator)
		e.out.WriteString(jsonvalue.StringValue(members[i]).JSON() + ":" + jsonvalue.StringValue(members[i+1]).JSON())
		separator = ','
	}
	rest := strings.TrimSpace(data[1:])
	if rest != "}" {
		e.out.WriteByte(',')
	}
	e.out.WriteString(rest)
}
