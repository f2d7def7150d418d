package localshell

// nameServices are the sockets of programs that only look up hosts, users and groups for
// the C library. Confined commands may connect to them.
var nameServices = []string{
	"/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/userdb/io.systemd.Multiplexer", "/run/nscd/socket", "/var/lib/sss/pipes/nss",
}
