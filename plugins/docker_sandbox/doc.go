// Package dockersandbox implements the resource type docker_sandbox: a container of a Docker
// engine that runs commands and is versioned by its differences from the image.
//
// # The container
//
// A resource is one container. It is created with the resource, runs while a process of this
// program uses it, is stopped in between (its files stay), and is removed with the resource.
//
// Its process 1 is this program itself (see package agent), copied into an anonymous volume of the container. So the image
// needs no special content, and no process in the container survives the connection, even after kill -9. Labels on the
// containers let [Plugin.Leftovers] find those whose resource no longer exists.
//
// The plugin never pulls an image. Networks and directories of the host are available only if
// the user's own configuration allows them ([domarkx.Allow]).
//
// # Versions
//
// A version stores the differences from the image as files:
//
//	image.json      the image's name and the digests of its layers
//	deleted         paths of the image that the container lacks, one per line, quoted like
//	                Git does it (core.quotePath) where needed
//	rootfs/…        files that are new or differ from the image, with their parent
//	                directories, modes, owners, devices, hard links and extended
//	                attributes, but without times
//
// Storing differences is enough because the image is identified by its content on every engine; otherwise the first version
// of a 100 MB container would take 100 MB. Equal files in containers of the same image give the same version, whatever their
// history: a file that was rewritten with the image's content does not differ.
//
// A version omits
//
//   - files that the engine creates: /dev, /proc, /sys, /.dockerenv, /etc/hosts, /etc/hostname,
//     /etc/resolv.conf;
//   - directories of the host;
//   - sockets, which are useless without the listening process;
//   - extended attributes that the container cannot read (trusted.*) or that belong to the host's
//     security modules (such as security.selinux).
package dockersandbox
