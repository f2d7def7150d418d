package snapshot

var LeafPath = leafPath
