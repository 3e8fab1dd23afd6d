// Workloads plays rounds on the control plane that KUBECONFIG and ETCD name: each gives a StatefulSet, DaemonSet or Job random pods,
// dumps it, asks the preview what the next sync takes, lets the real controller take it, and compares by UID.
//
//	workloads [-from N] [-record FILE] -podrank PROGRAM -keep DIR KIND N SEED
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
	// One at a time: a Job's controller does not wait.
	all := rounds.Parse(1)
	kind, known := kinds[flag.Arg(0)]
	if flag.NArg() != 3 || !known {
		must.Do(fmt.Errorf("want one of %v, a number of rounds and a seed", slices.Sorted(maps.Keys(kinds))))
	}
	var records []*record
	all.Play(ctx, func(ctx context.Context, number int) string {
		for range 100 {
			r := &round{Rounds: all, r: rand.New(rand.NewPCG(all.Seed, uint64(number))), resource: kind.resource, name: kind.name}
			r.namespace = all.Plane.CreateNamespace(ctx, fmt.Sprintf("%s-%d-%d-", flag.Arg(0), all.Seed, number))
			recorded, contradiction := r.play(ctx, kind.scenario(r))
			if contradiction != "" {
				all.IsWrong(number, "%s\n%s", recorded.Kind, contradiction)
				all.Keep(r.namespace, "dump.json", preview.List(recorded.Items))
			}
			r.Plane.Empty(ctx, r.namespace)
			r.Plane.DeleteNodes(ctx, nodeLabel, r.namespace)
			if recorded != nil {
				records = append(records, recorded)
				return ""
			}
			all.Count("played again: the controller was faster", 1)
		}
		must.Do(errors.New("the controller is always faster"))
		return ""
	})
	if *recordFile != "" {
		rounds.Record(*recordFile, records)
	}
	all.Conclude()
}
