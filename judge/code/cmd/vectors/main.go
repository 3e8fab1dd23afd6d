// Command vectors writes tests/vectors/upstream.json to standard output:
//
//	go run ./cmd/vectors >../../tests/vectors/upstream.json
package main

import (
	"log"
	"os"

	"github.com/podrank/podrank/go/judge"
	"github.com/podrank/podrank/go/judge/internal/vectors"
)

func main() {
	if err := vectors.Upstream(judge.Kubernetes).Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
