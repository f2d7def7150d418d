package sqlite

import (
	"strings"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// The pragmas that statements may use. Others could create files elsewhere
// (temp_store_directory), reveal data of this machine (database_list), damage the file
// (writable_schema) or use up memory (cache_size).
var (
	// Reading pragmas change nothing, with or without an argument.
	reading = words(`application_id auto_vacuum collation_list compile_options data_version encoding foreign_key_check foreign_key_list
		foreign_keys freelist_count function_list index_info index_list index_xinfo integrity_check journal_mode
		max_page_count module_list page_count page_size pragma_list quick_check recursive_triggers schema_version
		table_info table_list table_xinfo user_version`)
	// These change nothing even with an argument.
	queryPragmas = words(`foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check
		table_info table_list table_xinfo`)
	setting = words(`analysis_limit application_id auto_vacuum case_sensitive_like defer_foreign_keys encoding foreign_keys
		ignore_check_constraints incremental_vacuum journal_mode legacy_alter_table max_page_count optimize page_size
		recursive_triggers reverse_unordered_selects synchronous user_version`)
	// journal modes that survive a crash
	modes = words(`delete truncate persist wal`)
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// reads reports whether a query may perform an action.
func reads(a sqlite3.Action) bool {
	switch a.Code {
	case sqlite3.Select, sqlite3.Read, sqlite3.Recursive:
		return true
	case sqlite3.Function:
		return function(a.Two)
	case sqlite3.Pragma:
		name := strings.ToLower(a.One)
		return reading[name] && (a.Two == "" || queryPragmas[name])
	}
	return false
}

// queries reports whether a statement of query or schema may perform an action on a read-only
// connection (PRAGMA query_only). Virtual tables such as R*Trees prepare writing statements as
// soon as a statement names them.
func queries(a sqlite3.Action) bool {
	switch a.Code {
	case sqlite3.Insert, sqlite3.Update, sqlite3.Delete:
		return true
	}
	return reads(a)
}

// changes reports whether a statement of execute may perform an action: anything within the
// database.
func changes(a sqlite3.Action) bool {
	switch a.Code {
	case sqlite3.Attach:
		// VACUUM attaches "", a temporary database; any other name is another file.
		return a.Known && (a.One == "" || a.One == ":memory:")
	case sqlite3.Function:
		return function(a.Two)
	case sqlite3.Pragma:
		name, value := strings.ToLower(a.One), strings.ToLower(a.Two)
		if name == "journal_mode" && value != "" {
			return modes[value]
		}
		return setting[name] || reading[name] && (value == "" || queryPragmas[name])
	}
	return true
}

// function reports whether SQL may call a function.
func function(name string) bool {
	name = strings.ToLower(name)
	return name != "load_extension" && name != "fts3_tokenizer"
}
