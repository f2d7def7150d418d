// Package database is what the types of resources that are databases have in
// common: their tools, how SQL values stand in JSON, bounded results, and names of
// files for names of tables.
//
// A value of SQL stands in JSON like this, in results, in the arguments of a
// statement and in the rows of a version:
//
//	NULL                       null
//	a truth value              true, false
//	an integer                 a number, when no more than 2^53-1 away from 0; else its
//	                           digits as a string, which readers of JSON cannot round
//	a floating-point number    a number with a "." or exponent; else "Infinity",
//	                           "-Infinity" or "NaN"
//	text                       a string
//	bytes, or text that is     {"base64": "…"}
//	not UTF-8
//	everything else            a string, as the database writes it as text
package database
