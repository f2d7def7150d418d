// Package remote exchanges references and their objects with other repositories,
// by git fetch and git push.
//
// What is shared stands in refs/domarkx/KIND/NAME (KIND is "sessions", for one),
// here and in the remote repository. What a remote has was last seen stands in
// refs/domarkx-remotes/REMOTE/KIND/NAME. A fetch brings references into
// refs/domarkx-incoming/REMOTE/KIND/NAME first, where they are until they were
// verified. All refspecs are given on the command line:
// no setting of a remote is read for them or changed, because a configured refspec
// that prunes would delete references that were not pushed yet.
//
// The other side is not trusted: its objects are checked (fetch.fsckObjects and
// [Client.Verify]), a reference with bad ones is reported and the others are taken in,
// names that this program does not accept are reported and left alone, and its words
// reach callers without control characters.
package remote
