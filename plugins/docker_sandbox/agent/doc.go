// Package agent is the first process in a sandbox container, and what talks to
// it from outside.
//
// The program copies itself into each container that it makes and runs there as
// process 1 ([Serve]). It is asked over its standard input and answers on its
// standard output ([Client]): to run commands, to list the files, to give the
// content of some of them, to put files in place. That needs no shell and no tar
// in the image, costs no new process of the engine for each request, keeps what
// the engine's own archives drop (extended attributes, names that are not
// UTF-8), and bounds every life in the container:
//
//   - when the input ends, because who asked was killed, process 1 ends, and with
//     it, by pid_namespaces(7), every process in the container;
//   - kill(-1) by process 1 reaches whatever a command left behind, whether it
//     changed its session or its parent.
//
// What comes out of a container is hostile: the client bounds all that it reads.
package agent
