package gitstore_test

import "time"

var testTime = time.Unix(1700000000, 0).UTC()
