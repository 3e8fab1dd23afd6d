package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "k8s.io/kubernetes"

// oldest is the oldest minor release that is compared: docs/support.md promises nothing about those before it.
const oldest = 34

// newest returns the newest release of each minor from the oldest on, but for the pinned one. A beta or release candidate counts
// until that is out.
func newest(pinned string) ([]string, error) {
	output, err := command("go", "list", "-m", "-versions", module)
	if err != nil {
		return nil, err
	}
	best := map[int]string{}
	for _, release := range strings.Fields(output)[1:] {
		// The module proxy lists them in ascending order.
		if minor := minorOf(release); minor >= oldest {
			best[minor] = release
		}
	}
	var releases []string
	for _, release := range best {
		if release != pinned {
			releases = append(releases, release)
		}
	}
	slices.SortFunc(releases, func(a, b string) int { return cmp.Compare(minorOf(a), minorOf(b)) })
	if len(releases) == 0 {
		return nil, fmt.Errorf("the module proxy lists no release of %s beside %s", module, pinned)
	}
	return releases, nil
}

func minorOf(release string) int {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 3 || parts[0] != "v1" {
		return 0
	}
	minor, _ := strconv.Atoi(parts[1])
	return minor
}

// folder gets a release and returns where its files are.
func folder(release string) (string, error) {
	cache, err := command("go", "env", "GOMODCACHE")
	if err != nil {
		return "", err
	}
	at := filepath.Join(strings.TrimSpace(cache), module+"@"+release)
	// A release that needs a newer Go is unpacked all the same.
	_, failed := command("go", "mod", "download", module+"@"+release)
	if _, err := os.Stat(filepath.Join(at, "pkg", "controller")); err != nil {
		return "", fmt.Errorf("no files of %s: %w", release, cmp.Or(failed, err))
	}
	return at, nil
}

func command(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var failure bytes.Buffer
	command.Stderr = &failure
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, failure.String())
	}
	return string(output), nil
}
