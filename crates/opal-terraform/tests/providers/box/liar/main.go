// A provider that answers what a test wrote: the file answers/CALL has the bytes of the answer, and
// answers/CALL.do says what happens instead: exit, hang, noise, or the same answer again without end. The
// file calls has the names of all calls.
package main

import (
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
)

type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *(v.(*[]byte)), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*(v.(*[]byte)) = append([]byte(nil), data...)
	return nil
}

func (raw) Name() string { return "proto" }

func answer(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	file := filepath.Join("answers", path.Base(method))
	var question []byte
	if err := stream.RecvMsg(&question); err != nil {
		return err
	}
	calls, err := os.OpenFile("calls", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(calls, path.Base(method))
		calls.Close()
	}
	do, _ := os.ReadFile(file + ".do")
	switch strings.TrimSpace(string(do)) {
	case "exit":
		os.Exit(7)
	case "hang":
		select {}
	case "noise":
		line := strings.Repeat("x", 1023) + "\n"
		for range 4096 {
			fmt.Print(line)
			fmt.Fprint(os.Stderr, line)
		}
	}
	bytes, _ := os.ReadFile(file)
	if strings.TrimSpace(string(do)) == "again" {
		for stream.SendMsg(&bytes) == nil {
		}
		return nil
	}
	return stream.SendMsg(&bytes)
}

func main() {
	socket := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "liar")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		os.Exit(1)
	}
	fmt.Printf("1|6|unix|%s|grpc|\n", socket)
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(answer))
	if server.Serve(listener) != nil {
		os.Exit(1)
	}
}
