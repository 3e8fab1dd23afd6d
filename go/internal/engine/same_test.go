//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/cpodrank"
	"github.com/podrank/podrank/go/internal/plain"
)

// engines are all that this program has.
var engines = []core.Engine{cpodrank.Engine{}, plain.Engine{}}

var cases = flag.Int("cases", 3000, "how many cases TestSame asks both engines about")

// same asks both engines one question, and compares all that they say.
func same(t *testing.T, s source) {
	q := newQuestion(&s)
	for _, method := range methods {
		a, b := said(engines[0], method, q), said(engines[1], method, q)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: libpodrank says\n%+v\nand plain Go\n%+v\nof %+v", method.name, a, b, q)
		}
	}
}

// said is what an engine says, with the texts of errors.
func said(e core.Engine, method method, q *question) []any {
	answers := slices.Clone(method.ask(e, q))
	for i, answer := range answers {
		if err, ok := answer.(error); ok {
			answers[i] = err.Error()
		}
	}
	return answers
}

func TestSame(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 30))
	for number := range *cases {
		same(t, random(r))
		if t.Failed() {
			t.Fatalf("case %d", number)
		}
	}
}

func FuzzSame(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		f.Add([]byte(random(r)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { same(t, data) })
}

func TestVersions(t *testing.T) {
	if a, b := engines[0].Version(), engines[1].Version(); a != b || a == "" {
		t.Errorf("libpodrank is %q, and plain Go %q", a, b)
	}
	if names := fmt.Sprint(engines[0].Name(), " ", engines[1].Name()); names != "libpodrank plain" {
		t.Error(names)
	}
}
