package mountd

var (
	PrivateTemporary  = privateTemporary
	Writable          = writable
	ServeWhileReading = serveWhileReading
)
