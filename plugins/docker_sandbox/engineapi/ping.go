package engineapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const pingPath = "/_ping"

// The references of these versions, 1.40 to 1.56, describe all that this package sends and reads.
const oldest, newest = 40, 56

// parseVersion returns N of a version 1.N of the API.
func parseVersion(s string) (int, error) {
	minor, ok := strings.CutPrefix(s, "1.")
	n, err := strconv.ParseUint(minor, 10, 16)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a version of the API like 1.41", s)
	}
	return int(n), nil
}

// Ping asks which system, such as linux, the containers of the engine have, and agrees with it on the version of the API
// unless DOCKER_API_VERSION sets it. It comes before other requests.
func (c *Client) Ping(ctx context.Context) (system string, err error) {
	answer, err := c.send(ctx, http.MethodGet, pingPath, nil, http.NoBody, http.Header{})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxError)) // then the connection can be used again
	system, most := answer.Header.Get("Ostype"), answer.Header.Get("Api-Version")
	if c.version != 0 {
		return system, nil
	}
	if most == "" {
		return "", errors.New("the answer names no version of the API; if this is a Docker engine, set DOCKER_API_VERSION")
	}
	n, err := parseVersion(most)
	if err != nil {
		return "", err
	}
	if n < oldest {
		return "", fmt.Errorf("it speaks version %s of the API, and 1.%d is needed; install a newer engine", most, oldest)
	}
	c.version = min(n, newest)
	return system, nil
}
