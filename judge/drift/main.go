// Command drift says which functions of Kubernetes that podrank reproduces differ from the release that the tests judge with, and
// which file of podrank reproduces each:
//
//	go run . [RELEASE...]      such as v1.36.3; by default the newest of each minor, with its betas and release candidates
//
// functions.txt lists the functions, known.txt the differences that somebody has read. It fails on any other. Modules come from the
// module proxy.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "drift:", err)
		os.Exit(1)
	}
}

// function is one that podrank reproduces.
type function struct {
	// place is "file name" in upstream's repository.
	place string
	// by is the file of podrank that reproduces it.
	by string
}

func run(releases []string) error {
	pinned, err := pinnedRelease()
	if err != nil {
		return err
	}
	functions, err := readFunctions("functions.txt")
	if err != nil {
		return err
	}
	known, err := readKnown("known.txt")
	if err != nil {
		return err
	}
	if len(releases) == 0 {
		if releases, err = newest(pinned); err != nil {
			return err
		}
	}
	expected, err := digestsOfRelease(pinned, functions)
	if err != nil {
		return err
	}
	for _, function := range functions {
		if expected[function.place] == missing {
			return fmt.Errorf("%s has no %s", pinned, function.place)
		}
	}
	changed := 0
	for _, release := range releases {
		found, err := digestsOfRelease(release, functions)
		if err != nil {
			return err
		}
		changes, read := compare(functions, expected, found, known)
		for _, change := range changes {
			fmt.Printf("%s to %s: %s\n", pinned, release, change)
		}
		changed += len(changes)
		fmt.Printf("%s: %d functions, %d differ as known.txt says\n", release, len(functions), read)
	}
	if changed > 0 {
		return fmt.Errorf("%d functions have changed", changed)
	}
	fmt.Println("drift: ok")
	return nil
}

func digestsOfRelease(release string, functions []function) (map[string]string, error) {
	root, err := folder(release)
	if err != nil {
		return nil, err
	}
	return digests(root, functions)
}

// compare says which functions have changed in a way that nobody has read, and how many in one that somebody has.
func compare(functions []function, expected, found map[string]string, known map[string]bool) (changes []string, read int) {
	for _, function := range functions {
		digest := found[function.place]
		entry := digest + " " + function.place
		if digest == expected[function.place] {
			continue
		} else if known[entry] {
			read++
			continue
		}
		changes = append(changes, fmt.Sprintf("%s has changed: see whether %s still does the same, and add to known.txt:\n  %s",
			function.place, function.by, entry))
	}
	return changes, read
}

// readFunctions reads lines of a file of podrank, and below it, indented, upstream's file and functions.
func readFunctions(name string) ([]function, error) {
	var functions []function
	by := ""
	err := eachLine(name, func(line string) error {
		if !strings.HasPrefix(line, " ") {
			by = line
			_, err := os.Stat(filepath.Join("..", "..", by))
			return err
		}
		fields := strings.Fields(line)
		if by == "" || len(fields) < 2 {
			return fmt.Errorf("%q is not a file with functions", line)
		}
		for _, name := range fields[1:] {
			functions = append(functions, function{place: fields[0] + " " + name, by: by})
		}
		return nil
	})
	if err == nil && len(functions) == 0 {
		err = fmt.Errorf("%s is empty", name)
	}
	return functions, err
}

// readKnown reads why a difference does not matter, and below it, indented, a digest and its place.
func readKnown(name string) (map[string]bool, error) {
	known := map[string]bool{}
	hasReason := false
	err := eachLine(name, func(line string) error {
		if !strings.HasPrefix(line, " ") {
			hasReason = true
		} else if !hasReason {
			return fmt.Errorf("%q has no reason", line)
		} else {
			known[strings.TrimSpace(line)] = true
		}
		return nil
	})
	return known, err
}

func eachLine(name string, do func(string) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimRight(lines.Text(), " ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	return lines.Err()
}

// pinnedRelease is the release that judge/code builds with.
func pinnedRelease() (string, error) {
	text, err := os.ReadFile(filepath.Join("..", "code", "go.mod"))
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(text))
	at := slices.Index(fields, "k8s.io/kubernetes")
	if at < 0 || at+1 == len(fields) {
		return "", errors.New("judge/code/go.mod requires no k8s.io/kubernetes")
	}
	return fields[at+1], nil
}
