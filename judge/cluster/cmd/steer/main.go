// Steer plays rounds on the control plane that KUBECONFIG and ETCD name, beside busy clients. Each round scales a random
// workload by random preferences with kubectl-podrank, and compares the deleted pods, by UID, with the selected ones.
//
//	steer [-from N] [-protocol|-lease|-flap] [-busy CLIENTS] [-parallel ROUNDS] -podrank PROGRAM -keep DIR N SEED
//
// The program under test also runs it as $KUBECTL. Then it calls kubectl, and disturbs one of the calls.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
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
	timeout string        // of each step of a run
	bound   time.Duration // of a run
	audit   *audit.Log
	others  map[string]*control.Plane // the users who disturb
}

// A plan is what is drawn for a round and how it is played.
type plan struct {
	options scene.WorkloadOptions
	wish    func(*wish.Case, *rand.Rand) *wish.Case // in place of the drawn one; nil if that counts
	most    int                                     // limit of pods that are deleted; none if 0
	play    func(*game)
}

// wishRounds plans a round that nobody disturbs. In a few of them, many pods go, and in more, whole nodes.
func wishRounds(number int) plan {
	plain := scene.WorkloadOptions{Steerable: true, Own: true, Ready: true}
	switch {
	case number%100 == 7:
		plain.Size = 620
		return plan{options: plain, wish: manyPods, play: (*game).wishes}
	case number%5 == 3:
		plain.Agents = true
		return plan{options: plain, wish: wholeNodes, play: (*game).whole}
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
	flap := flag.Bool("flap", false, "some pods become ready and not ready all the time")
	lease := flag.Bool("lease", false, "kills, other runs, other clocks and missing rights, for the Lease")
	s := &steer{Rounds: rounds.Parse(4), mode: "wishes", timeout: "30s", bound: 6 * time.Minute}
	planned := protocolRounds
	switch {
	case *protocol && *lease || *flap && (*protocol || *lease):
		must.Do(errors.New("give one mode: they exclude each other"))
	case *protocol:
		s.mode = "protocol"
	case *lease:
		s.mode, planned, s.timeout = "lease", leaseRounds, "10s"
	case *flap:
		s.mode, planned = "flap", flapRounds
	default:
		planned, s.timeout, s.bound = wishRounds, "10m", 30*time.Minute // for 600 pods
	}
	s.history = history.Follow(ctx, s.Plane, crowd.Namespaces(*busy)...)
	s.history.Patience = 3 * time.Minute
	s.audit, s.others = audit.Open(control.AuditLog(s.Plane.Kubeconfig)), others(s.Plane)
	allowReading(ctx, s.Plane, user, rival)
	s.Log(fmt.Sprintf("steer-%d-%s.jsonl", s.Seed, s.mode))
	crowd.Start(ctx, s.Plane, *busy)
	s.Play(ctx, func(ctx context.Context, number int) string { return s.round(ctx, number, planned(number)) })
	s.Conclude()
}

// round plays one round and returns its line. It records podrank's errors in the line, and keeps their files.
func (s *steer) round(ctx context.Context, number int, p plan) string {
	g := s.begin(ctx, number, p)
	defer os.RemoveAll(g.dir)
	scheduling, stop := context.WithCancel(ctx)
	defer stop()
	go g.workload.Schedule(scheduling)
	p.play(g)
	stop()
	l := g.line
	if l.Result == broken {
		s.IsWrong(number, "%s: %s", l.Command, l.Message)
	}
	if l.Result == broken || l.Result == gaveUp {
		g.keepRound()
	}
	s.Count(l.Expect+": "+string(l.Result), 1)
	for _, happened := range l.Happened {
		name, _, _ := strings.Cut(happened, ", ")
		s.Count(fmt.Sprintf("%s: %s, exit status %d", name, l.Result, l.Exit), 1)
	}
	g.workload.CleanUp(ctx)
	return string(must.Get(json.Marshal(l)))
}
