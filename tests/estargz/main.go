// Makes an eStargz of a tar with containerd's own library, as a tool with `--estargz-record-in`
// does, and prints the names in the order in which they lie in it.
//
//	estargz LAYER.tar RECORD-IN
package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/containerd/stargz-snapshotter/estargz"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(layer, recordIn string) error {
	files, err := prioritized(recordIn)
	if err != nil {
		return err
	}
	file, err := os.Open(layer)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	blob, err := estargz.Build(io.NewSectionReader(file, 0, info.Size()), estargz.WithPrioritizedFiles(files))
	if err != nil {
		return err
	}
	defer blob.Close()
	return list(blob)
}

// The paths of the list, a line of JSON each.
func prioritized(recordIn string) (files []string, err error) {
	list, err := os.Open(recordIn)
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		var entry struct {
			Path string `json:"path"`
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return nil, err
		}
		files = append(files, entry.Path)
	}
	return files, nil
}

func list(blob io.Reader) error {
	unzipped, err := gzip.NewReader(blob)
	if err != nil {
		return err
	}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(entry.Name)
	}
}
