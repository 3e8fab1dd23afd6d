// Package rounds has what the programs that play rounds have in common: their flags, the control plane that KUBECONFIG and ETCD
// name, the loop over the rounds, the log, and what is kept and recorded of them.
package rounds

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// Rounds are those of a seed that a program plays. A round that changes what all rounds share locks them.
type Rounds struct {
	sync.Mutex
	Plane      *control.Plane
	Podrank    preview.Program
	From, Last int
	Seed       uint64

	parallel int
	log      *os.File
	keep     string
	done     map[int]bool
	tally    map[string]int
	wrong    int
}

// Parse reads the arguments that all programs have, with N and SEED at the end, the flags that all have, and those that
// this one has defined. parallel is the default for how many rounds run simultaneously.
func Parse(parallel int) *Rounds {
	r := &Rounds{done: map[int]bool{}, tally: map[string]int{}}
	flag.IntVar(&r.From, "from", 1, "the first round")
	flag.IntVar(&r.parallel, "parallel", parallel, "rounds at a time")
	flag.StringVar((*string)(&r.Podrank), "podrank", "kubectl-podrank", "the program under test")
	flag.StringVar(&r.keep, "keep", ".", "the directory for the logs and for what was found wrong")
	flag.Parse()
	if flag.NArg() < 2 {
		must.Do(errors.New("want a number of rounds and a seed"))
	}
	var err1, err2 error
	r.Last, err1 = strconv.Atoi(flag.Arg(flag.NArg() - 2))
	r.Seed, err2 = strconv.ParseUint(flag.Arg(flag.NArg()-1), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		must.Do(fmt.Errorf("want a number of rounds and a seed: %w", err))
	}
	r.Plane = control.Connect()
	return r
}

// Log opens the log, which gets a line for each round.
func (r *Rounds) Log(name string) { r.log = r.Open(name) }

// Count adds to a line of the summary.
func (r *Rounds) Count(what string, more int) {
	r.Lock()
	defer r.Unlock()
	r.tally[what] += more
}

// IsWrong counts and prints a round with an error.
func (r *Rounds) IsWrong(number int, format string, arguments ...any) {
	r.Lock()
	defer r.Unlock()
	r.wrong++
	fmt.Printf("round %d: %s\n", number, fmt.Sprintf(format, arguments...))
}

// Open opens a file beside the log, to append to it.
func (r *Rounds) Open(name string) *os.File {
	return must.Get(os.OpenFile(filepath.Join(r.keep, name), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644))
}

// Play plays the rounds, several at a time, and prints the summary without the errors. play returns the line of a round
// in the log. If a step of play fails, the control plane has failed, which ends all rounds.
func (r *Rounds) Play(ctx context.Context, play func(ctx context.Context, number int) string) {
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for number := r.From; number <= r.Last && ctx.Err() == nil; number++ {
		group.Go(func() error {
			err := must.Try(func() {
				line := play(ctx, number)
				r.Lock()
				defer r.Unlock()
				r.done[number] = true
				if r.log != nil {
					must.Get(fmt.Fprintln(r.log, line))
				}
			})
			if err != nil {
				return fmt.Errorf("round %d: %w", number, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		next := r.From
		for r.done[next] {
			next++
		}
		must.Do(fmt.Errorf("%w; to go on, give FROM %d", err, next))
	}
	fmt.Printf("rounds %d to %d of seed %d in %s\n", r.From, r.Last, r.Seed, time.Since(began).Round(time.Second))
	for _, what := range slices.Sorted(maps.Keys(r.tally)) {
		fmt.Printf("%7d %s\n", r.tally[what], what)
	}
}

// Keep writes a file about a round with an error, in a directory of the round.
func (r *Rounds) Keep(dir, name string, text []byte) {
	dir = filepath.Join(r.keep, dir)
	must.Do(os.MkdirAll(dir, 0o755))
	must.Do(os.WriteFile(filepath.Join(dir, name), text, 0o644))
}

// Conclude prints how many rounds had errors. It fails if any had.
func (r *Rounds) Conclude() {
	fmt.Printf("%d rounds contradict the preview\n", r.wrong)
	if r.wrong > 0 {
		must.Do(fmt.Errorf("what contradicts the preview is kept in %s", r.keep))
	}
}

// Record writes a compressed file with a line of JSON for each case.
func Record[T any](file string, cases []T) {
	out := must.Get(os.Create(file))
	zip := must.Get(gzip.NewWriterLevel(out, gzip.BestCompression))
	encoder := json.NewEncoder(zip)
	for _, c := range cases {
		must.Do(encoder.Encode(c))
	}
	must.Do(errors.Join(zip.Close(), out.Close()))
}
