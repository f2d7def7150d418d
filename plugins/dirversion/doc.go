// Package tree keeps a folder of this machine in versions: it gives what the folder
// holds to a [domarkx.VersionWriter], and makes it what a version holds.
//
// # What is kept
//
// Every file: regular files with their bytes, folders (also empty ones, also those
// named .git), symbolic links as such, FIFOs, device files, hard links among the
// files, permission, set-id and sticky bits, and extended attributes: user.*, and
// for root security.capability and trusted.*, of regular files and folders. Owners,
// times, ACLs and security labels are not kept.
//
// What cannot be kept is an error that names it: a file that cannot be read, one
// that goes on changing while it is read, and a mount point. Sockets are left out,
// with a warning that names them. What is forbidden, such as the repository's own Git
// directory, is left out and never touched.
//
// # Races
//
// On Linux every path is resolved by openat2(2) beneath the folder, without
// following symbolic links or crossing mount points (where the kernel has no
// openat2, one name at a time with O_NOFOLLOW), so that nobody who renames folders or
// plants links meanwhile leads this package elsewhere. On other systems [os.Root]
// keeps it within the folder; extended attributes, FIFOs and devices are of Linux
// only.
//
// # The stat cache
//
// What a file held is remembered with its inode, size, mode and times, in a file that
// each commit and load replaces. A file whose ctime or mtime was so young when it was
// read that a change might not have moved it (Git calls that racy) is read again the
// next time. The cache is only believed as far as checksums and stat(2) agree: one
// that is lost or damaged costs time, nothing else. Folders in which nothing changed
// since the last version are taken over from that as they are, without their files.
//
// # Durability
//
// A commit syncs the files and folders that it found new or changed, and a load all that it
// wrote, before the stat cache records them. When either returns, a power cut leaves the
// folder as it was then. Excluded files are not synced.
//
// # Excluding
//
// A pattern of [Config].Exclude is matched as gitignore(5) does, except that there is
// no "!": without a slash (but at the end) against the name of every file, with one
// against the path from the top; "*", "?" and "[…]" match within a name, "**" as a
// whole component matches any number of folders; with "/" at the end it is for
// folders only. What lies in an excluded folder is excluded. Excluded files are in no
// version and stay as they are when one is loaded.
package dirversion
