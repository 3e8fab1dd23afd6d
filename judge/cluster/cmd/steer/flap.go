package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/wish"
)

// flapping is how many of the pods become ready and not ready all the time. Each state lasts from flapTime to three
// times that, as with a readiness probe every 10 seconds.
const flapping, flapTime = 4, 5 * time.Second

// flapWishes are what rounds with flapping pods go through, one after the other.
var flapWishes = [][]wish.Wish{
	nil,
	{{Flag: "--prefer-pods", Value: wish.Shard + " in (0,1)"}},
	{{Flag: "--prefer-nodes", Value: wish.Zone + "=a"}, {Flag: "--empty-nodes=false"}},
	{{Flag: "--spread", Value: wish.Zone}},
}

// flapRounds plans a round in which some of 150 pods flap while `scale --yes` lowers the count by 5 to 14.
func flapRounds(number int) plan {
	options := scene.WorkloadOptions{Steerable: true, Size: 150, Ready: true, Own: true, Kind: "deployment"}
	ask := func(c *wish.Case, r *rand.Rand) *wish.Case {
		return &wish.Case{Target: c.Target, Pods: c.Pods, To: len(c.Pods) - 5 - r.IntN(10), Wishes: flapWishes[number%len(flapWishes)]}
	}
	return plan{options: options, wish: ask, play: (*game).flap}
}

// flap plays a round with flapping pods.
func (g *game) flap() {
	if g.plan == nil { // no node is in that zone
		g.is(refused)
		return
	}
	ctx, cancel := context.WithCancel(g.ctx)
	var done sync.WaitGroup
	pods := g.workload.Active()
	for i := range flapping {
		pod, isReady := pods[i*len(pods)/flapping], i%2 == 0
		done.Go(func() {
			for ctx.Err() == nil {
				g.attempt(func() { g.as("kubelet-user").SetReady(g.ctx, pod, isReady) })
				isReady = !isReady
				select {
				case <-ctx.Done():
				case <-time.After(flapTime + time.Duration(g.intN(int(2*flapTime)))):
				}
			}
		})
	}
	time.Sleep(time.Duration(g.intN(int(2 * flapTime)))) // at any time in between
	g.main = g.launch(user, g.arguments()...)
	g.main.json = true
	usable := g.play(g.main, nil)
	cancel()
	done.Wait()
	if err := errors.Join(g.failed...); err != nil {
		g.is(broken, err)
		return
	}
	if !usable {
		return
	}
	g.line.Happened = []string{fmt.Sprintf("%d pods flap with %d wishes", flapping, len(g.c.Wishes))}
	wrong := append(g.judgeRuns(), g.restored())
	switch ran := g.main.ran; {
	case ran.Exit == 0:
		g.is(took, wrong...)
	case ran.Exit == 1:
		g.is(gaveUp, wrong...)
	default:
		g.is(described, wrong...)
	}
}
