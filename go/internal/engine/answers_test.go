package engine

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// answersFile has for each method the SHA-256 of what libpodrank says to the questions of TestAnswers. So machines
// without libpodrank compare their engine with it, too. This writes it, on a machine that has libpodrank:
//
//	ANSWERS=write go test -run TestAnswers ./internal/engine
const answersFile = "testdata/answers.txt"

func TestAnswers(t *testing.T) {
	for i, engine := range engines {
		got := ""
		for _, method := range methods {
			r, hash := rand.New(rand.NewPCG(31, 31)), sha256.New()
			for range 1000 {
				s := random(r)
				fmt.Fprintln(hash, method.ask(engine, newQuestion(&s))...)
			}
			got += fmt.Sprintf("%s %x\n", method.name, hash.Sum(nil))
		}
		if os.Getenv("ANSWERS") == "write" && i == 0 && engine.Name() == "libpodrank" {
			if err := os.WriteFile(answersFile, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(answersFile)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(string(file), "\n")
		for line, got := range strings.Split(got, "\n") {
			if line >= len(want) || got != want[line] {
				t.Errorf("%s: libpodrank gave other answers than these: %s", engine.Name(), got)
			}
		}
	}
}
