// Package remote exchanges references and their objects with other repositories,
// by git fetch and git push.
//
// Shared references are refs/domarkx/KIND/NAME, here and in the remote repository; KIND is
// "sessions", for example. refs/domarkx-remotes/REMOTE/KIND/NAME records where a remote's
// reference was last seen. A fetch stores references in
// refs/domarkx-incoming/REMOTE/KIND/NAME until they are verified. All refspecs are
// command-line arguments, and the configured ones are neither read nor changed: one that
// prunes would delete references that were not pushed yet.
//
// The remote is not trusted. Its objects are checked (fetch.fsckObjects and
// [Client.Verify]); a reference with bad objects is reported and the others are stored.
// Invalid names are reported and skipped. Control characters are removed from the remote's
// messages.
package remote
