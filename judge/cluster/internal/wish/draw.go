// Package wish draws commands of `kubectl podrank scale` and `drop`. It does not use a cluster.
package wish

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Labels of nodes and pods that preferences can name.
const (
	Zone      = corev1.LabelTopologyZone
	Hostname  = corev1.LabelHostname
	Lifecycle = "lifecycle" // of a node: spot or on-demand
	Draining  = "draining"  // of a pod: true
	Shard     = "shard"     // of a pod: 0 to 3
)

// Wish is one flag that chooses pods.
type Wish struct {
	Flag, Value string
	Values      map[string]float64 // for --by-value: by the name of the pod
}

// Case is one command for a workload.
type Case struct {
	Target string   // as TYPE/NAME
	Pods   []string // names of the active ones; as many as spec.replicas

	Drop              bool     // rather than scale
	To                int      // what it is scaled to
	Names             []string // pods that must go
	Wishes            []Wish   // in order, without those that name pods
	Also, Force, Keep bool
	namesFirst        bool // on the command line
}

// Check compares the names of the selected pods with the command: every named pod is selected and, with `drop`, no
// other unless --also is given.
func (c *Case) Check(wanted map[string]bool) error {
	for _, name := range c.Names {
		if !wanted[name] {
			return fmt.Errorf("%s is named, and not wanted", name)
		}
	}
	count := len(c.Pods) - c.To
	if c.Drop {
		count = len(c.Names)
	}
	if len(wanted) != count && !c.Also {
		return fmt.Errorf("%d pods are wanted, not %d", len(wanted), count)
	}
	return nil
}

var (
	nodeSelectors = []string{
		Lifecycle + "=spot", Lifecycle + "!=spot", Zone + " in (a,b)", Zone + "=c," + Lifecycle + "=spot", "absent",
	}
	podSelectors = []string{
		Draining + "=true", "!" + Draining, Shard + " in (0,1)", Shard + "!=3", Shard + "=2," + Draining, Draining + "=true",
	}
	spreads = []string{Zone, Hostname, Zone + "," + Hostname, Zone + "," + Hostname}
)

// Draw asks something random for a workload of these pods. Strangers are names of pods that are not of it.
func Draw(r *rand.Rand, target string, pods, strangers []string) *Case {
	c := &Case{Target: target, Pods: pods}
	chance := func(p float64) bool { return r.Float64() < p }
	names := slices.Clone(pods)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	c.Force, c.Keep = chance(0.1), chance(0.05)
	c.Drop = chance(0.35)
	if c.Drop {
		c.Names = names[:1+r.IntN(1+len(names)/3)]
		if len(strangers) > 0 && chance(0.04) {
			c.Names = append(slices.Clone(c.Names), strangers[r.IntN(len(strangers))])
		}
		c.Also = chance(0.3)
		return c
	}
	c.To = r.IntN(len(c.Pods))
	if chance(0.03) {
		c.To = len(c.Pods) + r.IntN(3)
	}
	for range r.IntN(4) {
		c.Wishes = append(c.Wishes, c.drawWish(r))
	}
	if chance(0.3) {
		most := max(1, len(c.Pods)-c.To)
		c.Names = names[:min(len(names), 1+r.IntN(most))]
		if chance(0.1) {
			c.Names = names[:min(len(names), most+1)] // more than go, unless all go
		}
		c.namesFirst = chance(0.5)
	}
	given := map[string]bool{}
	c.Wishes = slices.DeleteFunc(c.Wishes, func(w Wish) bool { // these may be given once
		again := given[w.Flag] && w.Flag != "--prefer-nodes" && w.Flag != "--prefer-pods"
		given[w.Flag] = true
		return again
	})
	return c
}

func (c *Case) drawWish(r *rand.Rand) Wish {
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	switch r.IntN(8) {
	case 0, 1:
		return Wish{Flag: "--prefer-nodes", Value: pick(nodeSelectors)}
	case 2, 3:
		return Wish{Flag: "--prefer-pods", Value: pick(podSelectors)}
	case 4:
		values := map[string]float64{}
		for _, pod := range c.Pods {
			values[pod] = float64(r.IntN(200)-100) / []float64{1, 1, 4}[r.IntN(3)]
		}
		return Wish{Flag: "--by-value", Values: values}
	case 5:
		return Wish{Flag: "--not-available-first"}
	case 6:
		return Wish{Flag: "--empty-nodes"}
	default:
		return Wish{Flag: "--spread", Value: pick(spreads)}
	}
}

// Arguments are those of the program but for the namespace. The file has the values.
func (c *Case) Arguments(file string) []string {
	var arguments []string
	if c.Drop {
		arguments = append([]string{"drop"}, c.Names...)
		if c.Also {
			arguments = append(arguments, "--also")
		}
	} else {
		arguments = []string{"scale", c.Target, "--replicas", fmt.Sprint(c.To)}
		var names []string
		for _, name := range c.Names {
			names = append(names, "--pod", name)
		}
		if c.namesFirst {
			arguments, names = append(arguments, names...), nil
		}
		for _, wish := range c.Wishes {
			arguments = append(arguments, wish.Flag)
			if wish.Values != nil {
				arguments = append(arguments, file)
			} else if wish.Value != "" {
				arguments = append(arguments, wish.Value)
			}
		}
		arguments = append(arguments, names...)
	}
	if c.Force {
		arguments = append(arguments, "--force-conflicts")
	}
	if c.Keep {
		arguments = append(arguments, "--keep-costs")
	}
	return arguments
}

// Values is the text for --by-value, or empty.
func (c *Case) Values() string {
	var text strings.Builder
	for _, wish := range c.Wishes {
		for _, pod := range c.Pods {
			if value, ok := wish.Values[pod]; ok {
				fmt.Fprintln(&text, pod, value)
			}
		}
	}
	return text.String()
}
