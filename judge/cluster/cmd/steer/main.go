// Steer plays rounds on the control plane that KUBECONFIG and ETCD name, beside busy clients. Each round scales a random
// workload by random wishes with kubectl-podrank, and compares the pods that went, by UID, with those that were wanted.
//
//	steer [-from N] [-protocol|-lease] [-busy CLIENTS] [-parallel ROUNDS] -podrank PROGRAM -keep DIR N SEED
//
// The program under test also runs it as $KUBECTL. Then it calls kubectl, and makes something go wrong at one of the calls.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/audit"
	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/crowd"
	"github.com/podrank/podrank/judge/cluster/internal/fault"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/rounds"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
)

type steer struct {
	*rounds.Rounds
	history *history.History
	mode    string
	audit   *audit.Log                // of modes with drawn disturbances
	others  map[string]*control.Plane // the users who disturb
}

// A plan is what is drawn for a round and how it is played.
type plan struct {
	options scene.WorkloadOptions
	most    int // pods that go; no limit if 0
	play    func(*game, context.Context)
}

// feasible are rounds that would go well if nothing happened.
var feasible = scene.WorkloadOptions{Steerable: true}

// wishRounds plans a round that nobody disturbs. In a few of them, many pods go.
func wishRounds(number int) plan {
	if number%100 == 7 {
		return plan{options: scene.WorkloadOptions{Steerable: true, Size: 620, Own: true, Ready: true}, play: (*game).many}
	}
	return plan{play: (*game).wishes}
}

func main() {
	if fault.IsStandIn() {
		fault.StandIn()
	}
	must.Main("steer", run)
}

func run(ctx context.Context) {
	busy := flag.Int("busy", 16, "busy clients")
	protocol := flag.Bool("protocol", false, "disturbances drawn at every prompt, write and wait")
	lease := flag.Bool("lease", false, "kills, other runs, other clocks and missing rights, for the Lease")
	s := &steer{Rounds: rounds.Parse(4), mode: "wishes"}
	planned := wishRounds
	switch {
	case *protocol && *lease:
		must.Do(errors.New("give one mode: they exclude each other"))
	case *protocol:
		s.mode, planned = "protocol", protocolRounds
	case *lease:
		s.mode, planned = "lease", leaseRounds
	}
	s.history = history.Follow(ctx, s.Plane, crowd.Namespaces(*busy)...)
	s.history.Patience = 3 * time.Minute
	if *protocol || *lease {
		s.audit, s.others = audit.Open(control.AuditLog(s.Plane.Kubeconfig)), others(s.Plane)
		allowReading(ctx, s.Plane, user, rival)
	}
	logFile := s.Log(fmt.Sprintf("steer-%d-%s.jsonl", s.Seed, s.mode))
	clients := crowd.Start(ctx, s.Plane, *busy)
	took := s.Play(ctx, func(ctx context.Context, number int) string { return s.round(ctx, number, planned(number)) })
	rate, failed := clients.Rate()
	fmt.Printf("%d rounds in %s beside %d busy clients, whose %.0f requests a second failed at %.1f %%\n", s.Last-s.From+1,
		took.Round(time.Second), *busy, rate, 100*failed)
	must.Do(summarize(readLines(logFile, s.Last)))
}

// round plays one round and returns its line. What podrank does wrong is in the line, and kept.
func (s *steer) round(ctx context.Context, number int, p plan) string {
	g := s.begin(ctx, number, p.options, p.most)
	defer os.RemoveAll(g.dir)
	scheduling, stop := context.WithCancel(ctx)
	defer stop()
	go g.workload.Schedule(scheduling)
	p.play(g, ctx)
	stop()
	l := g.line
	if l.Result.isBad() {
		g.keepRound()
		fmt.Printf("round %d: %s: %s: %s\n", number, l.Result, l.Command, l.Message)
	}
	g.workload.CleanUp(ctx)
	return string(must.Get(json.Marshal(l)))
}
