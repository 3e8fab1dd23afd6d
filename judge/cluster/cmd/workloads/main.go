// Workloads plays rounds on the control plane that KUBECONFIG and ETCD name: each gives a StatefulSet, DaemonSet or Job random pods,
// dumps it, asks the preview what the next sync takes, lets the real controller take it, and compares by UID.
//
//	workloads [-record FILE] [-gates GATE=BOOL,...] -podrank PROGRAM -keep DIR KIND N SEED
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/podrank/podrank/judge/cluster/internal/control"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "workloads:", err)
		os.Exit(1)
	}
}

// kinds are the scenarios by the short names of their kinds.
var kinds = map[string]func(*round) scenario{
	"sts": func(r *round) scenario { return &statefulSet{round: r} },
	"ds":  func(r *round) scenario { return &daemonSet{round: r} },
	"job": func(r *round) scenario { return &job{round: r} },
}

func run(ctx context.Context) error {
	podrank := flag.String("podrank", "kubectl-podrank", "the preview")
	keep := flag.String("keep", ".", "the directory for what was found wrong")
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	gates := flag.String("gates", "", "the feature gates to tell the preview")
	flag.Parse()
	kind := kinds[flag.Arg(0)]
	count, err1 := strconv.Atoi(flag.Arg(1))
	seed, err2 := strconv.ParseUint(flag.Arg(2), 10, 64)
	if err := errors.Join(err1, err2); err != nil || flag.NArg() != 3 || kind == nil {
		return fmt.Errorf("want one of %v, a number of rounds and a seed: %w", slices.Sorted(maps.Keys(kinds)), err)
	}
	plane, err := control.Connect()
	if err != nil {
		return err
	}
	tally, wrong, late, rounds := map[string]int{}, 0, 0, []*record{}
	for number := 1; len(rounds) < count; number++ {
		r := &round{plane: plane, r: rand.New(rand.NewPCG(seed, uint64(number))), podrank: *podrank, gates: *gates, tally: tally,
			namespace: fmt.Sprintf("%s-%d-%d", flag.Arg(0), seed, number)}
		played := kind(r)
		recorded, err := r.play(ctx, played)
		contradiction := (*contradiction)(nil)
		switch {
		case errors.Is(err, errLate) && late < 10*count:
			late++
		case errors.As(err, &contradiction):
			wrong++
			fmt.Printf("round %d: %v\n", number, err)
			if err := os.WriteFile(filepath.Join(*keep, r.namespace+".json"), contradiction.dump, 0o644); err != nil {
				return err
			}
			fallthrough
		case err == nil:
			rounds = append(rounds, recorded)
		default:
			return fmt.Errorf("round %d: %w", number, err)
		}
		if err := errors.Join(played.delete(ctx), r.deletePods(ctx)); err != nil {
			return fmt.Errorf("round %d: %w", number, err)
		}
	}
	fmt.Printf("%d rounds of seed %d; in %d more, the controller was faster\n", count, seed, late)
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		fmt.Printf("%6d %s\n", tally[what], what)
	}
	if *recordFile != "" {
		if err := write(*recordFile, rounds); err != nil {
			return err
		}
	}
	fmt.Printf("%d rounds contradict the preview\n", wrong)
	if wrong > 0 {
		return fmt.Errorf("what contradicts the preview is kept in %s", *keep)
	}
	return nil
}

func write(file string, rounds []*record) error {
	var text bytes.Buffer
	zip, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(zip)
	for _, round := range rounds {
		if err := encoder.Encode(round); err != nil {
			return err
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}
