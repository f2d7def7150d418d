// Package overlay is the writable folder of the mount without the mount: stored
// sessions seen as files, and over them what programs do to those files until it
// has become snapshots.
//
// A path that ends in .md and has no component that begins with a dot is a
// session. Every other path is a real file, link or folder that never becomes a
// session. Those with an editor's names ([IsScratch]) are gone with the mount; the
// other files are drafts, and an image among them is attached to the sessions that
// show it. Files that sessions keep show where no other file does.
//
// What is saved is acknowledged when it is in the journal of drafts, and becomes a
// snapshot when the writes that belong to one save have settled. A save is made
// from an [edition]: the content that the saving process, or its group, last read
// under that name, so that the store can merge where the session moved on.
//
// A file never changes behind the back of who has it open: when a session gets
// another tip from elsewhere, or a save had to be merged, its name gets a new
// [File], as if it had been renamed over.
package overlay
