// Package database contains what the resource types for databases share: their tools, the JSON
// encoding of SQL values, bounded results, and file names for table names.
//
// SQL values have this JSON encoding in results, in the arguments of a statement and in the rows
// of a version:
//
//	NULL                       null
//	boolean                    true, false
//	integer                    a number if its absolute value is at most 2^53-1, else its
//	                           digits as a string, which readers of JSON cannot round
//	floating-point number      a number with a "." or exponent; else "Infinity",
//	                           "-Infinity" or "NaN"
//	text                       a string
//	bytes, or text that is     {"base64": "…"}
//	not UTF-8
//	other types                a string, the database's own text form of the value
package database
