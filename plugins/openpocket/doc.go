// Package openpocket is the plugin of the type "openpocket": the files of
// OpenPocket, an agent that uses a phone, with tools that write them as that program
// does. README.md beside this code says what is written, and where it differs from
// what the program does.
package openpocket
