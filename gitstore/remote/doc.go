// Package remote exchanges references and their objects with other repositories, by git fetch and git push.
//
// A shared reference has the same name here and in the remote repository, its shared name: refs/domarkx/KIND/NAME,
// where KIND is "sessions", for example. Each has two more references here:
//
//   - Its tracking reference, refs/domarkx-remotes/REMOTE/KIND/NAME, records the commit that the remote had when it was
//     last fetched from or pushed to.
//   - Its incoming reference, refs/domarkx-incoming/REMOTE/KIND/NAME, exists from the moment when git fetch has stored
//     the remote's commit until that commit is verified and recorded, or rejected.
//
// The package passes all refspecs to git as arguments or on standard input. It neither reads nor changes configured
// ones: with a configured refspec, a fetch that prunes would delete references that were not pushed yet.
//
// The remote is not trusted. Git and the caller check its objects (fetch.fsckObjects in git-config(1) and
// [Client.Verify]). A fetch reports a reference with bad objects and stores the others, and it reports and skips invalid
// names. A [Result] contains a message of the remote without its control characters.
package remote
