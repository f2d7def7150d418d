package engineapi

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Attach connects to the standard streams of a container, running or not. What is written is its input; what is read is its
// output, for [Output]. The connection outlives ctx.
func (c *Client) Attach(ctx context.Context, id string) (io.ReadWriteCloser, error) {
	answer, err := c.send(ctx, http.MethodPost, "/containers/"+id+"/attach",
		url.Values{"stream": {"1"}, "stdin": {"1"}, "stdout": {"1"}, "stderr": {"1"}}, http.NoBody,
		http.Header{"Connection": {"Upgrade"}, "Upgrade": {"tcp"}})
	if err != nil {
		return nil, err
	}
	// net/http gives the connection away with the bytes that it has already read.
	stream, ok := answer.Body.(io.ReadWriteCloser)
	if !ok {
		answer.Body.Close()
		return nil, fmt.Errorf("the answer is %s, expected 101 and a connection for both directions", answer.Status)
	}
	return stream, nil
}

// Output returns a reader of the standard output of a container without a terminal. It writes the standard error that comes
// in between to stderr. Each piece of from has a header: its stream, three zero bytes, and its size, big-endian.
func Output(from io.Reader, stderr io.Writer) io.Reader {
	return &output{in: bufio.NewReaderSize(from, 32<<10), stderr: stderr} // engines send no more in one piece
}

type output struct {
	in     *bufio.Reader
	stderr io.Writer
	left   int64 // bytes of the standard output before the next header
}

func (o *output) Read(p []byte) (int, error) {
	for o.left == 0 {
		header := make([]byte, 8)
		if _, err := io.ReadFull(o.in, header); err != nil {
			return 0, err
		}
		size := int64(binary.BigEndian.Uint32(header[4:]))
		switch header[0] {
		case 1:
			o.left = size
		case 2:
			if n, err := io.Copy(o.stderr, io.LimitReader(o.in, size)); err != nil {
				return 0, err
			} else if n < size {
				return 0, io.ErrUnexpectedEOF
			}
		case 3:
			message, err := io.ReadAll(io.LimitReader(o.in, min(size, maxError)))
			return 0, errors.Join(fmt.Errorf("the engine reported: %s", message), err)
		default:
			return 0, fmt.Errorf("the engine sent output of a stream %d, which the API does not have", header[0])
		}
	}
	n, err := o.in.Read(p[:min(int64(len(p)), o.left)])
	o.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
