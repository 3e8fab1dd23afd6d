// Command mutants changes internal/plain operator by operator, and checks that a test of internal/engine or
// internal/plain fails for each change. `make -C go mutants` runs it, for half an hour.
//
//	go run ./check/mutants [FILE...]
//
// It prints the mutants that survive. known.txt has those that are known to, under the reason why no answer changes:
// each with its file and its function, the line as it is, and as the mutant has it. A survivor that known.txt lacks is
// an error, and so is one in it that is killed or no longer made.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const (
	packageDir = "internal/plain"
	knownFile  = "check/mutants/known.txt"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutants: ")
	mutants, err := makeMutants(os.Args[1:])
	if err == nil {
		err = testAll(mutants)
	}
	if err == nil {
		err = report(mutants)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// testAll tests as many mutants simultaneously as there are processors.
func testAll(mutants []*mutant) error {
	unchanged := &mutant{source: mutants[0].source}
	if err := unchanged.test(); err != nil {
		return err
	}
	if unchanged.result != survived {
		return errors.New("the tests fail without a mutant")
	}
	queue, failures := make(chan *mutant), make([]error, runtime.NumCPU())
	var workers sync.WaitGroup
	for i := range failures {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for m := range queue {
				if failures[i] == nil {
					failures[i] = m.test()
				}
			}
		}()
	}
	for i, m := range mutants {
		if i%100 == 0 {
			log.Printf("%d of %d", i, len(mutants))
		}
		queue <- m
	}
	close(queue)
	workers.Wait()
	return errors.Join(failures...)
}

// test runs the tests until one fails, the fastest first. One that takes so much longer than usual would never end.
func (m *mutant) test() error {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(m.source.path)
	if err != nil {
		return err
	}
	file, overlay, program := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "test")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
	if err := errors.Join(err, os.WriteFile(file, []byte(m.text()), 0o644), os.WriteFile(overlay, list, 0o644)); err != nil {
		return err
	}
	for _, tests := range [][]string{
		{"internal/engine", "-test.run=TestSame", "-test.timeout=1m"},
		{packageDir, "-test.timeout=2m"},
		{"internal/engine", "-cases=20000", "-test.timeout=10m"},
	} {
		build := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./"+tests[0])
		if output, err := build.CombinedOutput(); err != nil {
			m.result = notBuilt
			if !strings.Contains(string(output), packageDir) {
				return fmt.Errorf("%w: %s", err, output)
			}
			return nil
		}
		// A mutant may ask for any amount of memory.
		limited := []string{"-c", `ulimit -v 8000000 && exec "$0" "$@"`, program, "-test.failfast"}
		run := exec.Command("sh", append(limited, tests[1:]...)...)
		run.Dir = tests[0]
		output, err := run.CombinedOutput()
		switch {
		case err == nil:
			continue
		case strings.Contains(string(output), "panic: test timed out"):
			m.result = endless
		default:
			m.result = killed
		}
		return nil
	}
	m.result = survived
	return nil
}

// report compares the survivors with those that are known, and says how many mutants there were.
func report(mutants []*mutant) error {
	text, err := os.ReadFile(knownFile)
	if err != nil {
		return err
	}
	files, counts, survivors := map[string]bool{}, map[result]int{}, map[string]bool{}
	for _, m := range mutants {
		files[m.file()] = true
		counts[m.result]++
		switch m.result {
		case survived:
			survivors[m.String()] = true
		case endless:
			log.Println("does not end:", m)
		}
	}
	known, wrong := map[string]bool{}, 0
	for _, line := range strings.Split(string(text), "\n") {
		file, _, _ := strings.Cut(line, ",")
		known[line] = true
		if files[file] && !survivors[line] {
			fmt.Println("does not survive:", line)
			wrong++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(survivors)) {
		if !known[line] {
			fmt.Println(line)
			wrong++
		}
	}
	fmt.Printf("%d mutants are killed, %d do not end, %d survive and %d do not build\n",
		counts[killed], counts[endless], counts[survived], counts[notBuilt])
	if wrong > 0 {
		return fmt.Errorf("%d survivors are not as in %s", wrong, knownFile)
	}
	return nil
}
