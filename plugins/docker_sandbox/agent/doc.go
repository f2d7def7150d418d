// Package agent implements the program that runs as process 1 of a sandbox container ([Serve]),
// and the client that controls it from outside ([Client]).
//
// The executable copies itself into each container that it creates. The agent reads requests
// from its standard input and writes answers to its standard output: it runs commands, lists
// files, returns their content and writes files. Compared with docker exec and docker cp this
//
//   - needs neither a shell nor tar in the image;
//   - starts no new process of the engine for each request;
//   - preserves what the engine's archives drop: extended attributes, and names that are not UTF-8;
//   - ends every process in the container when the client is killed: process 1 exits when its
//     input ends, and the kernel then kills all others (pid_namespaces(7));
//   - kills everything that a command left running: kill(-1) from process 1 also reaches
//     processes that changed their session or parent.
//
// The content of a container is hostile, so the client bounds everything that it reads.
package agent
