// Command vectors writes what Kubernetes and Go themselves say to tests/vectors, upstream.json and go_sort.json:
//
//	go run ./cmd/vectors
package main

import (
	"bytes"
	"log"
	"os"

	"github.com/podrank/podrank/go/judge"
	"github.com/podrank/podrank/go/judge/internal/gosort"
	"github.com/podrank/podrank/go/judge/internal/vectors"
)

func main() {
	if err := write(); err != nil {
		log.Fatal(err)
	}
}

func write() error {
	var relation, sorts bytes.Buffer
	if err := vectors.Upstream(judge.Kubernetes).Write(&relation); err != nil {
		return err
	}
	if err := gosort.Write(&sorts); err != nil {
		return err
	}
	if err := os.WriteFile(vectors.Path("upstream.json"), relation.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(vectors.Path("go_sort.json"), sorts.Bytes(), 0o644)
}
