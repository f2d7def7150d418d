package sqlite

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// The pragmas that statements may use. Other pragmas could create files elsewhere (temp_store_directory), reveal data
// of this machine (database_list), damage the file (writable_schema) or exhaust the memory (cache_size). See
// https://www.sqlite.org/pragma.html.
const (
	// A query may use these without an argument: they read a setting.
	reading = `application_id auto_vacuum collation_list compile_options data_version encoding foreign_key_check foreign_key_list
		foreign_keys freelist_count function_list index_info index_list index_xinfo integrity_check journal_mode
		max_page_count module_list page_count page_size pragma_list quick_check recursive_triggers schema_version
		table_info table_list table_xinfo user_version`
	// A query may use these with an argument too, which names what to check or list.
	queryPragmas = `foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check
		table_info table_list table_xinfo`
	setting = `analysis_limit application_id auto_vacuum case_sensitive_like defer_foreign_keys encoding foreign_keys
		ignore_check_constraints incremental_vacuum journal_mode legacy_alter_table max_page_count optimize page_size
		recursive_triggers reverse_unordered_selects synchronous user_version`
	// These journal modes survive a crash.
	modes = `delete truncate persist wal`
)

// listed reports whether a word is in a list.
func listed(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// reads reports whether a query may perform an action.
func reads(a sqlite3.Action) bool {
	switch a.Code {
	case sqlite3.Select, sqlite3.Read, sqlite3.Recursive:
		return true
	case sqlite3.Function:
		return function(a.Two)
	case sqlite3.Pragma:
		name := strings.ToLower(a.One)
		return listed(reading, name) && (a.Two == "" || listed(queryPragmas, name))
	}
	return false
}

// queries reports whether a statement of query or schema may perform an action. Their connection is read-only (PRAGMA
// query_only), so that changes fail when they run. They must be allowed when a statement is prepared, because SQLite
// prepares writing statements for a virtual table such as an R*Tree as soon as a statement names it.
func queries(a sqlite3.Action) bool {
	switch a.Code {
	case sqlite3.Insert, sqlite3.Update, sqlite3.Delete:
		return true
	}
	return reads(a)
}

// changes reports whether a statement of execute may perform an action: any within the database.
func changes(a sqlite3.Action) bool {
	switch a.Code {
	case sqlite3.Attach:
		// VACUUM attaches "", a temporary database, and ":memory:" is in memory. Any other name is that of another
		// file.
		return a.Known && (a.One == "" || a.One == ":memory:")
	case sqlite3.Function:
		return function(a.Two)
	case sqlite3.Pragma:
		name, value := strings.ToLower(a.One), strings.ToLower(a.Two)
		if name == "journal_mode" && value != "" {
			return listed(modes, value)
		}
		return listed(setting, name) || listed(reading, name) && (value == "" || listed(queryPragmas, name))
	}
	return true
}

// function reports whether SQL may call a function.
func function(name string) bool {
	name = strings.ToLower(name)
	return name != "load_extension" && name != "fts3_tokenizer"
}
