// Package dockersandbox has the resource type docker_sandbox: a container of a
// Docker engine in which commands run, versioned by what differs from its image.
//
// # The container
//
// A resource is one container. It is made with the resource, runs while a
// process of this program works with it, and is removed with the resource; in
// between it is stopped and keeps its files. Its process 1 is this very program
// (see package agent), copied into a volume of the container's own: nothing is
// asked of the image, and nothing in the container outlives the connection to
// it, kill -9 or not. Containers carry labels by which [Leftovers] finds those
// whose resource is gone.
//
// The image is never pulled. Networks and directories of the host are there for
// those only whom the user's own configuration lets ([domarkx.Allow]).
//
// # Versions
//
// A version holds what differs from the image, as files:
//
//	image.json      the image's name and the digests of its layers
//	deleted         paths that the image has and the container does not, a line each,
//	                quoted like Git does it (core.quotePath) where needed
//	rootfs/…        files that are not in the image or differ from it, with their
//	                directories; modes, owners, devices, hard links and extended
//	                attributes are kept, times are not
//
// Only differences are kept because everything else is in the image, which is
// named by content, on any engine; a version of a container of some 100 MB
// would otherwise begin with 100 MB. The same files in a container of the same
// image are the same version, however they came to be: a file that was written
// again with what the image has is none that differs.
//
// Left out are what the engine makes itself (/dev, /proc, /sys, /.dockerenv, /etc/hosts,
// /etc/hostname, /etc/resolv.conf), directories of the host, sockets (which mean
// nothing without who listens), and attributes that the container's capabilities
// do not let it see (trusted.*) or that belong to the host (security.selinux and
// its like).
package dockersandbox
