// End plays rounds on the control plane that KUBECONFIG and ETCD name: each brings a Deployment somewhere into its rollouts, dumps it,
// asks the preview where its syncs lead after a change, makes the change, and waits until the real controllers come to rest. Then pods
// are made ready, one by one, and each time the next rest is predicted and judged. It compares the sizes of all sets, and the pods
// that went by UID.
//
// With -steer, podrank scales the Deployments by random wishes instead, and exactly the pods must go that it wants, or nothing may change.
//
//	end [-from N] [-steer|-record FILE] -podrank PROGRAM -keep DIR N SEED
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/record"
	"github.com/podrank/podrank/judge/cluster/internal/rounds"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// most is how many pods are made ready in a round.
const most = 5

type judge struct {
	*rounds.Rounds
	history *history.History
	tally   map[string]int
	cases   *os.File
	wrong   int
}

func main() { must.Main("end", run) }

func run(ctx context.Context) {
	recordFile := flag.String("record", "", "gets the rounds themselves, compressed, also those of earlier runs with this seed")
	steers := flag.Bool("steer", false, "podrank scales the Deployments, by random wishes")
	j := &judge{Rounds: rounds.Parse(12), tally: map[string]int{}}
	if *steers && *recordFile != "" {
		must.Do(errors.New("-steer and -record exclude each other"))
	}
	j.history = history.Follow(ctx, j.Plane)
	scene.CreateNodes(ctx, j.Plane)
	name, round := "end", j.round
	if *steers {
		name, round = "end-steered", j.steered
	}
	j.Log(fmt.Sprintf("%s-%d.log", name, j.Seed))
	j.cases = j.Open(fmt.Sprintf("%s-%d.jsonl", name, j.Seed))
	took := j.Play(ctx, round)
	if *recordFile != "" {
		rounds.Record(*recordFile, record.ReadEnds(j.cases))
	}
	fmt.Printf("rounds %d to %d of seed %d in %s\n", j.From, j.Last, j.Seed, took.Round(time.Second))
	for _, what := range slices.Sorted(maps.Keys(j.tally)) {
		fmt.Printf("%7d %s\n", j.tally[what], what)
	}
	j.Conclude(j.wrong)
}

// round plays one round and returns its line.
func (j *judge) round(ctx context.Context, number int) string {
	r := rand.New(rand.NewPCG(j.Seed, uint64(number)))
	journey := scene.BuildJourney(ctx, j.Plane, j.history, r, fmt.Sprintf("end-%d-", number))
	line := fmt.Sprintf("seed %d round %d %s:", j.Seed, number, journey.Kind)
	items := preview.GetFields(ctx, j.Plane.Kubeconfig, journey.Namespace)
	changed := preview.Merged(items, "Deployment", "web", journey.Change)
	var cases []*record.End
	step := func(kind string, items []map[string]any, count *int32, goes func()) {
		text, played := j.step(ctx, number, journey, kind, items, count, goes)
		line += text
		if played != nil {
			cases = append(cases, played)
		}
	}
	step(journey.Kind, changed, journey.Count, func() { journey.Go(ctx) })
	for range r.IntN(most + 1) {
		pod, change := journey.NextPod()
		if pod == nil {
			break
		}
		items := preview.GetFields(ctx, j.Plane.Kubeconfig, journey.Namespace)
		changed := preview.Merged(items, "Pod", pod.Name, change)
		step("ready", changed, nil, func() { journey.MakeReady(ctx, pod, change) })
	}
	scene.CleanUp(ctx, j.Plane, j.history, journey.Namespace)
	j.Lock()
	defer j.Unlock()
	for _, c := range cases {
		must.Do(json.NewEncoder(j.cases).Encode(c))
	}
	return line
}

// step asks where the objects lead, lets the controllers go there, and compares. It returns a part of the round's line, and the case.
func (j *judge) step(ctx context.Context, number int, journey *scene.Journey, kind string, items []map[string]any, count *int32,
	goes func(),
) (string, *record.End) {
	j.history.ClearEvents(journey.Namespace)
	question := &preview.EndQuestion{Items: items, Count: count, Now: time.Now(), Within: "1s,5s"}
	goes()
	arrival := j.arrival(journey.Namespace, items)
	end, err := j.Podrank.AskEnd(ctx, question)
	must.Do(ctx.Err())
	if err == nil {
		err = verdict.JudgeEnd(end, arrival)
		if err != nil {
			journey.Linger(ctx)
			arrival = j.arrival(journey.Namespace, items)
			err = verdict.JudgeEnd(end, arrival)
		}
	} else if kind == "lagging" && strings.Contains(err.Error(), "the input is incomplete") {
		// kubectl reads pods and sets one after the other, so what it reads in the middle of some work need not fit together.
		j.Lock()
		defer j.Unlock()
		j.tally[kind+": refused, as the dump does not fit together"]++
		return " lagging refused;", nil
	}
	j.Lock()
	defer j.Unlock()
	j.count(kind, end, arrival)
	played := record.EndOf(number, kind, question, arrival)
	if err == nil {
		return fmt.Sprintf(" %s ok;", kind), played
	}
	what := "WRONG"
	if end != nil && end.Has("status-lags") && kind == "lagging" {
		// The preview says that the controllers are at work.
		what = "other than said, while the controllers were at work"
	} else {
		j.wrong++
	}
	j.tally[kind+": "+what]++
	story := must.Get(json.MarshalIndent(map[string]any{"error": err.Error(), "end": end, "went": arrival.Before, "sizes": arrival.Sizes,
		"others": arrival.Others, "count": count, "now": question.Now}, "", " "))
	dir := fmt.Sprintf("end-%d-round-%d-%s", j.Seed, number, kind)
	j.Keep(dir, "dump.json", preview.List(items))
	j.Keep(dir, "story.json", story)
	fmt.Printf("round %d %s %s: %v\n", number, kind, what, err)
	return fmt.Sprintf(" %s %s: %v;", kind, what, err), played
}

// arrival is what became of the objects.
func (j *judge) arrival(namespace string, items []map[string]any) *verdict.Arrival {
	a := &verdict.Arrival{Before: map[types.UID]bool{}, Sizes: map[string]int32{}}
	sets := map[types.UID]string{}
	for _, item := range items {
		var head preview.Head
		must.Do(json.Unmarshal(must.Get(json.Marshal(item)), &head))
		object := preview.Object{Head: head}
		switch {
		case head.Kind == "ReplicaSet":
			sets[head.Metadata.UID] = head.Metadata.Name
		case object.IsActivePod() && object.Owner() != "":
			a.Before[head.Metadata.UID] = false
		}
	}
	j.history.Look(namespace, func(n *history.Namespace) {
		for uid := range a.Before {
			// What was dumped while the controllers were at work may have gone before the change.
			pod := n.Pods[uid]
			a.Before[uid] = pod == nil || pod.DeletionTimestamp != nil
		}
		for uid, set := range n.Sets {
			if name, known := sets[uid]; known {
				a.Sizes[name] = set.Replicas
			} else {
				a.Others += set.Replicas
			}
		}
	})
	return a
}

// count adds a step to the totals: how much of it was certain.
func (j *judge) count(kind string, end *preview.End, arrival *verdict.Arrival) {
	if end == nil || end.Rest == nil {
		return
	}
	j.tally[kind+": steps"]++
	open := false
	for _, set := range end.Rest.Sets {
		open = open || !set.Replicas.IsOne()
	}
	if !open {
		j.tally[kind+": all sizes certain"]++
	}
	if end.Has("status-lags") {
		j.tally[kind+": statuses lag"]++
	}
	if !end.Rest.IsCertain {
		j.tally[kind+": not all ways looked at"]++
	}
	if end.GoesOn {
		j.tally[kind+": several syncs"]++
	}
	j.tally[kind+": waits for "+end.Rest.WaitsFor]++
	for _, set := range end.Sets {
		for _, pod := range set.Pods {
			j.tally["pods"]++
			j.tally["pods: "+pod.Verdict]++
			if pod.Verdict == "contested" && arrival.Before[pod.UID] {
				j.tally["pods: contested, and went"]++
			}
		}
	}
}
