// Package dirversion keeps versions of a directory: it writes the directory's content to
// a [domarkx.VersionWriter], and replaces the content by that of a version.
//
// # What is kept
//
// Versions contain every file: regular files with their bytes, directories (also empty ones
// and those named .git), symbolic links, FIFOs, device files, hard links among the files,
// permission, set-id and sticky bits, and extended attributes of regular files and
// directories: user.*, and for root security.capability and trusted.*. They do not contain
// owners, times, ACLs and security labels.
//
// A commit fails, with an error that names the file, for a file that cannot be read, a file
// that keeps changing while it is read, and a mount point. Sockets are skipped with a
// warning that names them, as are those over [Config].Limits. Forbidden paths, such as the repository's own Git directory, are
// skipped and never touched.
//
// # Races
//
// Package beneath opens all files, so that concurrent renames and planted links cannot lead out of the directory.
//
// A load of an observed directory never overwrites or unlinks a file: it exchanges the file with the new
// one, or moves it away, and looks at what came out. Only what the last commit read, and no program has
// open for writing, is removed, at the end of the load. Anything else is put back.
//
// # The stat cache
//
// A file caches the content id of every regular file with its inode, size, mode and times;
// each commit and load replaces it. A file is read again if its ctime or mtime was so recent
// that a later change might not have changed it (Git calls such entries racy). An entry is
// used only if the checksum and stat(2) match, so a lost or damaged cache costs time and
// nothing else. Directories without changes are copied from the last version without reading
// their files.
//
// # Durability
//
// Before the stat cache records them, a commit syncs all files and directories that are new
// or changed, and a load syncs everything that it wrote. After either returns, a power cut
// does not change the directory. Excluded files are not synced.
//
// # Excluding
//
// Patterns of [Config].Exclude match as in gitignore(5), without "!". A pattern without a
// slash (except at its end) is matched against the name of every file, a pattern with a slash
// against the path from the top. "*", "?" and "[…]" match within a name, "**" as a whole
// component matches any number of directories, and "/" at the end restricts the pattern to
// directories. Everything in an excluded directory is excluded. Versions contain no excluded
// files, and loading one leaves them unchanged.
package dirversion
