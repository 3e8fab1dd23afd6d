// Package answers keeps the answers in a file of vectors: each line has a question, and Kubernetes or Go answers it again. It imports the
// standard library alone, as gosort must.
package answers

import (
	"os"
	"strings"
	"testing"
)

// Again compares a file with what it holds if each of its lines is answered again. It keeps the comma at the end of a
// line. If the environment variable is "write", it writes the file instead. Otherwise, a file that differs fails the
// test: command writes it.
func Again(t *testing.T, path, variable, command string, answer func(line string) string) {
	t.Helper()
	then, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(then), "\n")
	for i, line := range lines {
		line, comma := strings.CutSuffix(line, ",")
		if lines[i] = answer(line); comma {
			lines[i] += ","
		}
	}
	now := strings.Join(lines, "\n")
	if os.Getenv(variable) == "write" {
		err = os.WriteFile(path, []byte(now), 0o644)
	} else if now != string(then) {
		t.Errorf("%s is out of date: %s=write %s", path, variable, command)
	}
	if err != nil {
		t.Error(err)
	}
}
