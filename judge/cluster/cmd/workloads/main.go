// Workloads plays rounds on the control plane that KUBECONFIG and ETCD name: each gives a StatefulSet, DaemonSet or Job random pods,
// dumps it, asks the preview what the next sync takes, lets the real controller take it, and compares by UID.
//
//	workloads [-from N] [-record FILE] [-gates GATE=BOOL,...] -podrank PROGRAM -keep DIR KIND N SEED
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/rounds"
)

// kinds are the kinds of workload by their short names: where the API has a round's workload, and the scenario.
var kinds = map[string]struct {
	resource, name string
	scenario       func(*round) scenario
}{
	"sts": {"statefulsets", "db", func(r *round) scenario { return &statefulSet{round: r} }},
	"ds":  {"daemonsets", "agent", func(r *round) scenario { return &daemonSet{round: r} }},
	"job": {"jobs", "import", func(r *round) scenario { return &job{round: r} }},
}

func main() { must.Main("workloads", run) }

func run(ctx context.Context) {
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed")
	gates := flag.String("gates", "", "the feature gates to tell the preview")
	// One at a time: a Job's controller does not wait.
	all := rounds.Parse(1)
	kind, known := kinds[flag.Arg(0)]
	if flag.NArg() != 3 || !known {
		must.Do(fmt.Errorf("want one of %v, a number of rounds and a seed", slices.Sorted(maps.Keys(kinds))))
	}
	tally, wrong, late, records := map[string]int{}, 0, 0, []*record{}
	all.Play(ctx, func(ctx context.Context, number int) string {
		for ; ; late++ {
			r := &round{plane: all.Plane, r: rand.New(rand.NewPCG(all.Seed, uint64(number))), podrank: all.Podrank, gates: *gates,
				tally: tally, resource: kind.resource, name: kind.name}
			r.namespace = all.Plane.CreateNamespace(ctx, fmt.Sprintf("%s-%d-%d-", flag.Arg(0), all.Seed, number))
			played := kind.scenario(r)
			recorded, contradiction := r.play(ctx, played)
			if contradiction != "" {
				wrong++
				fmt.Printf("round %d: %s\n%s\n", number, recorded.Kind, contradiction)
				all.Keep(r.namespace, "dump.json", preview.List(recorded.Items))
			}
			r.plane.Empty(ctx, r.namespace)
			r.plane.DeleteNodes(ctx, nodeLabel, r.namespace)
			if recorded != nil {
				records = append(records, recorded)
				return ""
			}
			if late == 10*all.Last {
				must.Do(errors.New("the controller was faster"))
			}
		}
	})
	fmt.Printf("%d rounds of seed %d; in %d more, the controller was faster\n", len(records), all.Seed, late)
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		fmt.Printf("%6d %s\n", tally[what], what)
	}
	if *recordFile != "" {
		rounds.Record(*recordFile, records)
	}
	all.Conclude(wrong)
}
