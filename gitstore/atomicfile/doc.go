// Package atomicfile replaces, syncs and locks files. A file that it writes has either its
// old content or all of the new content, also after the process or the machine stops, and a
// change is durable when the function that made it returns.
package atomicfile
