// Steer plays rounds on the control plane that KUBECONFIG and ETCD name, beside busy clients. Each round scales a random
// workload by random wishes with kubectl-podrank, and compares the pods that went, by UID, with those that were wanted and
// with what the harness itself expects.
//
//	steer [-from N] [-plain|-interrupts|-disturbances|-protocol|-lease] [-busy CLIENTS] [-parallel ROUNDS]
//	      -podrank PROGRAM -keep DIR N SEED
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
	"github.com/podrank/podrank/judge/cluster/internal/wish"
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
	limits  wish.Limits
	play    func(*game, context.Context)
}

// modes say what happens in which round.
var modes = []struct {
	name, about string
	plan        func(number int) plan
}{
	{"plain", "kubectl annotate and kubectl scale instead of podrank", func(int) plan {
		return plan{limits: wish.Limits{Evictions: true}, play: (*game).plain}
	}},
	{"interrupts", "signals and failures at every call of kubectl", func(int) plan {
		return plan{feasible, wish.Limits{OnlyFeasible: true, Evictions: true, Most: 20}, (*game).interrupts}
	}},
	{"disturbances", "others change the pods and the workload meanwhile", disturbances},
	{protocolMode, "disturbances drawn at every prompt, write and wait", protocolRounds},
	{leaseMode, "kills, other runs, other clocks and missing rights, for the Lease", leaseRounds},
}

// These modes need the audit log.
const protocolMode, leaseMode = "protocol", "lease"

func main() {
	if fault.IsStandIn() {
		fault.StandIn()
	}
	must.Main("steer", run)
}

func run(ctx context.Context) {
	busy := flag.Int("busy", 16, "busy clients")
	given := make([]*bool, len(modes))
	for i, mode := range modes {
		given[i] = flag.Bool(mode.name, false, mode.about)
	}
	s := &steer{Rounds: rounds.Parse(4), mode: "wishes"}
	planned := func(int) plan { return plan{limits: wish.Limits{Evictions: true}, play: (*game).wishes} }
	for i, mode := range modes {
		if *given[i] && s.mode != "wishes" {
			must.Do(errors.New("give one mode: they exclude each other"))
		}
		if *given[i] {
			s.mode, planned = mode.name, mode.plan
		}
	}
	s.history = history.Follow(ctx, s.Plane, crowd.Namespaces(*busy)...)
	s.history.Patience = 3 * time.Minute
	createUsers(ctx, s.Plane)
	if s.mode == protocolMode || s.mode == leaseMode {
		s.audit, s.others = audit.Open(control.AuditLog(s.Plane.Kubeconfig)), others(s.Plane)
		allowReading(ctx, s.Plane, user, rival)
	}
	logFile := s.Log(fmt.Sprintf("steer-%d-%s.jsonl", s.Seed, s.mode))
	clients := crowd.Start(ctx, s.Plane, *busy)
	took := s.Play(ctx, func(ctx context.Context, number int) string { return s.round(ctx, number, planned(number)) })
	rate, failed := clients.Rate()
	fmt.Printf("%d rounds in %s beside %d busy clients, whose %.0f requests a second failed at %.1f %%\n", s.Last-s.From+1,
		took.Round(time.Second), *busy, rate, 100*failed)
	must.Do(summarize(s.mode, readLines(logFile, s.Last)))
}

// round plays one round and returns its line. What podrank does wrong is in the line, and kept.
func (s *steer) round(ctx context.Context, number int, p plan) string {
	g := s.begin(ctx, number, p.options, p.limits)
	defer os.RemoveAll(g.dir)
	scheduling, stop := context.WithCancel(ctx)
	defer stop()
	go g.workload.Schedule(scheduling)
	p.play(g, ctx)
	stop()
	l := g.line
	if l.isBad() {
		g.keepRound()
		fmt.Printf("round %d: %s: %s: %s\n", number, l.Result, l.Command, l.Message)
	}
	g.workload.CleanUp(ctx)
	return string(must.Get(json.Marshal(l)))
}
