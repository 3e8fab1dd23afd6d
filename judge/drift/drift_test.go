package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const source = `package controller

var gates = map[string]bool{MaxUnavailable: true, Recreate: false}

// Less is an order.
func (s *Pods) Less(i, j int) bool { return s.less(i, j) }

func slow(count int) int {
	return count * 2
}
`

var listed = []function{
	{"pkg/a.go Pods.Less", "core/src/kubernetes.rs"},
	{"pkg/a.go slow", "core/src/slow_start.rs"},
	{"pkg/a.go gates[MaxUnavailable]", "predict/src/snapshot/release.rs"},
	{"pkg/gone.go slow", "core/src/gone.rs"},
}

func digestsOfText(t *testing.T, text string) map[string]string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "pkg"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "pkg", "a.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := digests(root, listed)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPlantedChange(t *testing.T) {
	before := digestsOfText(t, source)
	for _, test := range []struct{ name, old, new, place, by string }{
		{"a function", "count * 2", "count * 3", "pkg/a.go slow", "core/src/slow_start.rs"},
		{"a method", "s.less(i, j)", "s.less(j, i)", "pkg/a.go Pods.Less", "core/src/kubernetes.rs"},
		{"a gate", "MaxUnavailable: true", "MaxUnavailable: false", "pkg/a.go gates[MaxUnavailable]", "predict/src/snapshot/release.rs"},
		{"a function that is gone", "func slow(", "func fast(", "missing pkg/a.go slow", "core/src/slow_start.rs"},
	} {
		after := digestsOfText(t, strings.Replace(source, test.old, test.new, 1))
		changes, _ := compare(listed, before, after, nil)
		if len(changes) != 1 || !strings.Contains(changes[0], test.place) || !strings.Contains(changes[0], test.by) {
			t.Errorf("%s: %q", test.name, changes)
		}
		known := map[string]bool{after["pkg/a.go slow"] + " pkg/a.go slow": true}
		if changes, read := compare(listed, before, after, known); strings.Contains(test.place, "slow") && (len(changes) != 0 || read != 1) {
			t.Errorf("%s was read: %q", test.name, changes)
		}
	}
}

func TestWhatIsNoCode(t *testing.T) {
	before := digestsOfText(t, source)
	text := strings.NewReplacer("// Less is an order.", "// It orders.", "return count * 2", "// Twice.\n\n\treturn   count*2",
		"Recreate: false", "Recreate: true").Replace(source)
	if changes, _ := compare(listed, before, digestsOfText(t, text), nil); len(changes) > 0 {
		t.Errorf("%q", changes)
	}
	if before["pkg/gone.go slow"] != missing {
		t.Errorf("a file that is not there has %q", before["pkg/gone.go slow"])
	}
}

func TestNewest(t *testing.T) {
	for release, minor := range map[string]int{"v1.36.3": 36, "v1.38.0-beta.0": 38, "v2.1.0": 0, "v1": 0} {
		if got := minorOf(release); got != minor {
			t.Errorf("%s: %d", release, got)
		}
	}
}
