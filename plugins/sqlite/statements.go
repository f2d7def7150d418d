package sqlite

import (
	"errors"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A script runs the statements of one call of execute in one transaction: either all take effect or none. Statements
// that control transactions, VACUUM and PRAGMA cannot run in it. Before such a statement, the script commits the
// statements before it.
type script struct {
	*session
	begun    bool // whether the script, and not a statement, began the open transaction
	affected int64
	inserted int64          // rowid of the last row that an INSERT made, 0 for none
	rows     *database.Rows // rows of the last statement; nil if it returns none
}

// changing lists the first words of the statements whose changed rows are counted. Other statements change only rows
// that SQLite itself keeps, such as those of a virtual table that they create.
var changing = map[string]bool{"INSERT": true, "UPDATE": true, "DELETE": true, "REPLACE": true, "WITH": true}

func (s *session) execute(call domarkx.Call) (domarkx.Result, error) {
	sql, args, err := database.Statement(call)
	if err != nil {
		return domarkx.Result{}, err
	}
	run := &script{session: s}
	err = run.all(sql, args)
	if err == nil && s.InTransaction() && !run.begun {
		err = domarkx.NewToolError(domarkx.CodeInvalid, "the transaction was left open, and is rolled back; end it with COMMIT")
	}
	if err == nil && run.begun {
		err = run.control("COMMIT")
	}
	if err != nil && run.rows != nil {
		err = errors.Join(err, run.rows.Discard())
	}
	if err != nil {
		return domarkx.Result{}, err // Execute closes the connection, which rolls back
	}
	counts := []any{"rows_affected", run.affected}
	if run.inserted != 0 {
		counts = append(counts, "last_insert_rowid", database.Value(run.inserted))
	}
	if run.rows != nil {
		return run.rows.Result(counts...)
	}
	return domarkx.Result{Value: jsonvalue.ObjectOf(counts...)}, nil
}

func (s *script) all(sql string, args []database.Argument) error {
	for {
		alone := false
		s.Restrict(func(a sqlite3.Action) bool {
			switch a.Code {
			case sqlite3.Transaction, sqlite3.Attach, sqlite3.Detach, sqlite3.Pragma:
				alone = true
			}
			return changes(a)
		})
		stmt, rest, err := s.first(sql)
		if stmt == nil || err != nil {
			return err
		}
		if len(args) > 0 {
			if more, _, err := s.first(rest); more != nil || err != nil {
				return errors.Join(domarkx.NewToolError(domarkx.CodeInvalid, "args with more than one statement, expected one"), more.Close(), stmt.Close())
			}
		}
		word := strings.ToUpper(keyword(sql[:len(sql)-len(rest)]))
		err = s.one(stmt, word, alone || word == "VACUUM", args)
		if err = errors.Join(err, stmt.Close()); err != nil {
			return err
		}
		sql, args = rest, nil
	}
}

// one runs a statement. word is its first word. alone means that it cannot run in the script's transaction.
func (s *script) one(stmt *sqlite3.Stmt, word string, alone bool, args []database.Argument) error {
	if err := bind(stmt, args); err != nil {
		return err
	}
	switch {
	case alone && s.begun:
		if err := s.control("COMMIT"); err != nil {
			return err
		}
		s.begun = false
	case !alone && !s.InTransaction():
		if err := s.control("BEGIN"); err != nil {
			return err
		}
		s.begun = true
	}
	if s.rows != nil {
		if err := s.rows.Discard(); err != nil {
			return err
		}
		s.rows = nil
	}
	before := s.TotalChanges()
	s.Restrict(changes) // SQLite calls the authorizer for VACUUM only while that runs
	rows, err := s.session.rows(stmt)
	if err != nil {
		return err
	}
	if s.TotalChanges() != before && changing[word] {
		s.affected += s.Changes()
		if word != "UPDATE" && word != "DELETE" {
			s.inserted = s.LastInsert()
		}
	}
	if len(stmt.Columns()) > 0 {
		s.rows = rows
		return nil
	}
	return rows.Discard()
}

// control begins or ends a transaction of the script.
func (s *script) control(sql string) error {
	s.Restrict(changes)
	return s.Exec(sql)
}

// keyword returns the first word of SQL after white space and comments (https://www.sqlite.org/lang_comment.html).
func keyword(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\n\f\r;\ufeff")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql[2:], "*/")
		default:
			end := strings.IndexFunc(sql, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
			if end < 0 {
				end = len(sql)
			}
			return sql[:end]
		}
	}
}
