package wish

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The same seed asks the same, and all flags come up.
func TestDraw(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(2000) {
		var commands [2]string
		for i := range commands {
			c := Draw(rand.New(rand.NewPCG(seed, 1)), "deploy/web", strings.Fields("a b c d e f g h i j"), []string{"stranger"}, true)
			commands[i] = strings.Join(c.Arguments("FILE"), " ") + c.Values()
		}
		if commands[0] != commands[1] {
			t.Fatalf("%s\n%s", commands[0], commands[1])
		}
		for word := range strings.FieldsSeq(commands[0]) {
			seen[word] = true
		}
	}
	for _, word := range []string{"scale", "drop", "--pod", "--also", "--prefer-nodes", "--prefer-pods", "--by-value", "FILE", "-",
		"--not-available-first", "--empty-nodes", "--spread", "--force-conflicts", "--keep-costs", "--by", "stranger"} {
		if !seen[word] {
			t.Errorf("%s never comes up", word)
		}
	}
}

func TestCheckNotices(t *testing.T) {
	pods := strings.Fields("a b c")
	for _, test := range []struct {
		name   string
		c      Case
		wanted string
		right  bool
	}{
		{"the named pod", Case{Drop: true, Names: pods[:1]}, "a", true},
		{"another pod", Case{Drop: true, Names: pods[:1]}, "b", false},
		{"another pod, too", Case{Drop: true, Names: pods[:1]}, "a b", false},
		{"another pod, too, with --also", Case{Drop: true, Names: pods[:1], Also: true}, "a b", true},
		{"as many as go", Case{To: 1}, "b c", true},
		{"fewer than go", Case{To: 1}, "b", false},
		{"not the named one", Case{To: 1, Names: pods[:1]}, "b c", false},
	} {
		test.c.Pods = pods
		wanted := map[string]bool{}
		for name := range strings.FieldsSeq(test.wanted) {
			wanted[name] = true
		}
		if err := test.c.Check(wanted); (err == nil) != test.right {
			t.Errorf("%s: %v", test.name, fmt.Sprint(err))
		}
	}
}
