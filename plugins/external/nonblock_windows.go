package external

// nonblock is not needed: files that wait for others have no place in folders.
const nonblock = 0
