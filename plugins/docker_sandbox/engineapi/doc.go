// Package engineapi is a client of the Docker Engine API, with the requests of docker_sandbox and the fields it uses. The
// reference is https://docs.docker.com/reference/api/engine/.
//
// The path of each request but Ping begins with the version of the API, such as /v1.41: the newest that both sides know. An
// engine names its newest in the header Api-Version of its answer to Ping, and refuses versions that it does not know.
//
// Contexts limit how long requests take, and the client limits how much of an answer it reads. An answer that is an error is
// an [*Error]; where no engine answers, the error is a [*ConnectionError].
package engineapi
