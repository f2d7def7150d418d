package external

// nonblock is not needed: Windows has no FIFOs in directories.
const nonblock = 0
