// Package beneath opens and changes files below a directory, as [os.Root] does, with what versions of a directory need
// besides: stats with identities, extended attributes, devices, exchanging of files, and detection of their writers.
//
// On Linux every path is resolved by openat2(2) beneath the directory, without following symbolic links or crossing mount
// points; on kernels without openat2, one name at a time with O_NOFOLLOW. Concurrent renames and planted links therefore
// cannot lead out of the directory. On other systems [os.Root] does this; extended attributes, FIFOs, devices and hard
// links are only supported on Linux.
package beneath
