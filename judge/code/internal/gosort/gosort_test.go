package gosort

import (
	"bytes"
	"os"
	"testing"
)

// go_sort.json is what this release of Go does.
func TestVectors(t *testing.T) {
	var now bytes.Buffer
	if err := Write(&now); err != nil {
		t.Fatal(err)
	}
	then, err := os.ReadFile("../../../../tests/vectors/go_sort.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now.Bytes(), then) {
		t.Error("tests/vectors/go_sort.json is out of date: go run ./cmd/vectors")
	}
}
