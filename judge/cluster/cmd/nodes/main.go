// Nodes plays rounds on the control plane that KUBECONFIG and ETCD name: each scatters several Deployments, a DaemonSet, mirror-like and
// bare pods over 20 nodes, scales the Deployments down one after the other with kubectl-podrank, and counts the nodes that the real
// controllers leave empty, beside the most that any choice of as many pods could have. With -webhook, podrank-webhook runs beside the
// control plane, and kubectl scales.
//
//	nodes [-webhook] [-from N] [-parallel ROUNDS] -podrank PROGRAM -keep DIR N SEED
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/rounds"
)

const nodes = 20

var webhook = flag.Bool("webhook", false, "whether podrank-webhook steers, in place of kubectl-podrank")

func main() { must.Main("nodes", run) }

func run(ctx context.Context) {
	r := rounds.Parse(3)
	way := "terminal"
	if *webhook {
		way = "webhook"
	}
	r.Log(fmt.Sprintf("nodes-%s-%d.jsonl", way, r.Seed))
	var all Fall
	falls, wrong, late := 0, 0, 0
	took := r.Play(ctx, func(ctx context.Context, number int) string {
		w := build(ctx, r, number)
		defer w.cleanUp(ctx)
		var lines []Fall
		for _, name := range w.deployments {
			fall := w.fall(ctx, name)
			lines = append(lines, fall)
			r.Lock()
			if fall.Late != "" {
				late++
				fmt.Printf("round %d: %s: late: %s\n", number, fall.Command, fall.Late)
				fall = Fall{}
			} else {
				falls++
			}
			all.add(fall)
			if fall.Wrong != "" {
				wrong++
				fmt.Printf("round %d: %s: %s\n", number, fall.Command, fall.Wrong)
			}
			r.Unlock()
		}
		return string(must.Get(json.Marshal(lines)))
	})
	fmt.Printf("%d scale-downs in %s: %d nodes became empty, of %d that could; preferring nodes alone would have emptied %d, and Kubernetes by itself "+
		"%d for certain; %d pods wanted, %d missed; %d wrong; %d more were late\n", falls, took.Round(time.Second), all.Emptied, all.Best, all.Prefer,
		all.ByItself, all.Wanted, all.Missed, wrong, late)
	if wrong > 0 || all.Emptied != all.Best {
		os.Exit(1)
	}
}

// Fall is one scale-down.
type Fall struct {
	Command                         string
	Emptied, Best, Prefer, ByItself int
	Wanted, Missed                  int
	Wrong                           string `json:",omitempty"`
	// Late is why podrank-webhook let the count fall without steering, which it does when its time is up.
	Late string `json:",omitempty"`
}

// add adds the numbers of another one.
func (f *Fall) add(other Fall) {
	f.Emptied, f.Best, f.Prefer, f.ByItself = f.Emptied+other.Emptied, f.Best+other.Best, f.Prefer+other.Prefer, f.ByItself+other.ByItself
	f.Wanted, f.Missed = f.Wanted+other.Wanted, f.Missed+other.Missed
}

type world struct {
	*rounds.Rounds
	r           *rand.Rand
	namespace   string
	spot        map[string]bool
	deployments []string
	// prefers is whether the policy prefers spot nodes.
	prefers bool
}

// build makes the nodes and what runs on them.
func build(ctx context.Context, r *rounds.Rounds, number int) *world {
	w := &world{Rounds: r, r: rand.New(rand.NewPCG(r.Seed, uint64(number))), spot: map[string]bool{}}
	w.namespace = r.Plane.CreateNamespace(ctx, fmt.Sprintf("nodes-%d-", number))
	for i := range nodes {
		labels := map[string]string{"round": w.namespace, "lifecycle": []string{"spot", "reserved"}[w.r.IntN(2)]}
		w.spot[w.node(i)] = labels["lifecycle"] == "spot"
		r.Plane.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node(i), Labels: labels}})
		r.Plane.Patch(ctx, "nodes", "", w.node(i), `{"spec":{"taints":null}}`)
	}
	for i := range 2 + w.r.IntN(4) {
		name := fmt.Sprint("web-", i)
		w.deployments = append(w.deployments, name)
		size := int32(2 + w.r.IntN(12))
		r.Plane.Create(ctx, &appsv1.Deployment{ObjectMeta: w.meta(name), Spec: appsv1.DeploymentSpec{
			Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name),
		}})
	}
	agent := template("agent")
	agent.Spec.NodeSelector = map[string]string{"round": w.namespace}
	r.Plane.Create(ctx, &appsv1.DaemonSet{ObjectMeta: w.meta("agent"), Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}, Template: agent,
	}})
	for i := range w.r.IntN(5) {
		w.bare(ctx, fmt.Sprint("bare-", i), nil)
	}
	for i := range w.r.IntN(5) {
		node := w.node(w.r.IntN(nodes))
		uid := must.Get(r.Plane.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})).UID
		is := true
		w.bare(ctx, fmt.Sprint("mirror-", i), []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: uid, Controller: &is}})
	}
	w.settle(ctx)
	if *webhook {
		w.prefers = number%2 == 0
		w.setPolicy(ctx)
	}
	return w
}

func (w *world) node(i int) string { return fmt.Sprintf("%s-%d", w.namespace, i) }

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: w.namespace}
}

func template(app string) corev1.PodTemplateSpec {
	now := int64(0)
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: &now, Containers: []corev1.Container{{Name: "main", Image: "none"}},
	}}
}

func (w *world) bare(ctx context.Context, name string, owners []metav1.OwnerReference) {
	pod := &corev1.Pod{ObjectMeta: w.meta(name), Spec: template(name).Spec}
	pod.OwnerReferences = owners
	pod.Spec.NodeName = w.node(w.r.IntN(nodes))
	if owners != nil {
		pod.Spec.NodeName = owners[0].Name
	}
	w.Plane.Create(ctx, pod)
}

// settle binds the pods that have no node, to few nodes rather than to all, and waits until all are ready.
func (w *world) settle(ctx context.Context) {
	few := 3 + w.r.IntN(nodes-3)
	for {
		pods := w.pods(ctx)
		ready, wanted := 0, 0
		for _, deployment := range must.Get(w.Plane.AppsV1().Deployments(w.namespace).List(ctx, metav1.ListOptions{})).Items {
			wanted += int(*deployment.Spec.Replicas)
		}
		for i := range pods {
			pod := &pods[i]
			if pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 {
				node := w.node(w.r.IntN(few))
				if pod.Labels["app"] == "agent" {
					node = pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
				}
				_ = w.Plane.Bind(ctx, pod, node)
			}
			if strings.HasPrefix(pod.Labels["app"], "web-") && history.IsReady(pod) {
				ready++
			}
		}
		if ready == wanted {
			return
		}
		select {
		case <-ctx.Done():
			must.Do(ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// pods are those that are not going.
func (w *world) pods(ctx context.Context) []corev1.Pod {
	pods := must.Get(w.Plane.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})).Items
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

// left are how many pods of each owner keep each node.
func left(pods []corev1.Pod) map[string]map[string]int {
	nodes := map[string]map[string]int{}
	for i := range pods {
		owner := pods[i].Labels["app"]
		if by := metav1.GetControllerOf(&pods[i]); owner == "agent" || by != nil && by.Kind == "Node" || pods[i].Spec.NodeName == "" {
			continue
		}
		if nodes[pods[i].Spec.NodeName] == nil {
			nodes[pods[i].Spec.NodeName] = map[string]int{}
		}
		nodes[pods[i].Spec.NodeName][owner]++
	}
	return nodes
}

// request is for a scale-down: k pods of a Deployment go.
type request struct {
	*world
	name    string
	before  []corev1.Pod
	own     []corev1.Pod
	k       int
	prefers bool
}

// fall scales a Deployment down.
func (w *world) fall(ctx context.Context, name string) Fall {
	d := w.draw(ctx, name)
	alone, arguments := d.commands()
	fall := Fall{Command: strings.Join(arguments, " "), Best: w.best(d.before, name, d.k, d.prefers)}
	plan, err := w.podrank(ctx, alone)
	if err != nil {
		fall.Wrong = err.Error()
		return fall
	}
	wanted, certain := map[types.UID]bool{}, map[types.UID]bool{}
	for _, pod := range plan.Pods {
		wanted[pod.UID], certain[pod.UID] = pod.Wanted, pod.ByItself == "delete"
	}
	fall.Prefer, fall.ByItself = d.emptied(wanted), d.emptied(certain)
	var done *document
	if *webhook {
		fall.Command = fmt.Sprintf("scale %s from %d to %d in %s, prefers spot: %v", name, len(d.own), d.to(), w.namespace, w.prefers)
		done, err = w.scale(ctx, name, len(d.own), d.to())
	} else {
		done, err = w.podrank(ctx, append(arguments, "--yes"))
	}
	if late, ok := errors.AsType[lateError](err); ok {
		fall.Late = string(late)
		return fall
	}
	if err != nil {
		fall.Wrong = err.Error()
		return fall
	}
	d.judge(&fall, done, w.pods(ctx))
	return fall
}

// draw chooses how many pods of this Deployment go, and whether those on spot nodes go first.
func (w *world) draw(ctx context.Context, name string) *request {
	d := &request{world: w, name: name, before: w.pods(ctx)}
	for _, pod := range d.before {
		if pod.Labels["app"] == name {
			d.own = append(d.own, pod)
		}
	}
	most := len(d.own)
	if *webhook {
		most-- // It is not asked if all pods go.
	}
	d.k = 1 + w.r.IntN(most)
	prefers := w.r.IntN(2) == 0
	if *webhook {
		prefers = w.prefers
	}
	// A wish that no pod matches is refused.
	d.prefers = prefers && slices.ContainsFunc(d.own, d.isSpot)
	return d
}

func (d *request) to() int { return len(d.own) - d.k }

func (d *request) isSpot(pod corev1.Pod) bool { return d.spot[pod.Spec.NodeName] }

// commands are the arguments of podrank for a plan that does not empty nodes, and those for the scale-down.
func (d *request) commands() (alone, arguments []string) {
	arguments = []string{"scale", "deploy/" + d.name, "--replicas", fmt.Sprint(d.to()), "--namespace", d.namespace, "-o", "json"}
	wish := []string{"--empty-nodes"}
	alone = append(slices.Clone(arguments), "--dry-run", "--empty-nodes=false")
	if d.prefers {
		wish = []string{"--prefer-nodes", "lifecycle=spot"}
		alone = append(alone, wish...)
	}
	return alone, append(arguments, wish...)
}

// emptied counts the nodes that would be empty without these pods.
func (d *request) emptied(goes map[types.UID]bool) (count int) {
	gone := map[string]int{}
	for _, pod := range d.own {
		if goes[pod.UID] {
			gone[pod.Spec.NodeName]++
		}
	}
	has := left(d.before)
	for node, pods := range gone {
		if len(has[node]) == 1 && has[node][d.name] == pods {
			count++
		}
	}
	return count
}

// judge holds what was told of a scale-down against the pods that are there after it.
func (d *request) judge(fall *Fall, done *document, after []corev1.Pod) {
	fall.Wanted, fall.Missed = d.k, len(done.Missed)
	gone := map[types.UID]bool{}
	for _, pod := range d.own {
		gone[pod.UID] = !slices.ContainsFunc(after, func(other corev1.Pod) bool { return other.UID == pod.UID })
	}
	spot, spotGone := 0, 0
	for _, pod := range d.own {
		if d.isSpot(pod) {
			spot++
			if gone[pod.UID] {
				spotGone++
			}
		}
	}
	if d.prefers && spotGone != min(d.k, spot) {
		fall.Wrong += fmt.Sprintf("%d pods on spot nodes went, of %d; ", spotGone, min(d.k, spot))
	}
	for _, pod := range done.Pods {
		if pod.Wanted != gone[pod.UID] {
			fall.Wrong += fmt.Sprintf("%s: wanted %v, gone %v; ", pod.Name, pod.Wanted, gone[pod.UID])
		}
	}
	// What is there now decides, not what was planned.
	now := left(after)
	for node, owners := range left(d.before) {
		if owners[d.name] > 0 && len(now[node]) == 0 {
			fall.Emptied++
		}
	}
	told := 0
	for _, node := range done.Nodes {
		if node.BecomesEmpty {
			told++
		}
	}
	if *webhook {
		told = fall.Emptied // It tells nobody.
	}
	if fall.Missed > 0 || fall.Emptied != fall.Best || told != fall.Emptied {
		fall.Wrong += fmt.Sprintf("%d nodes became empty, %d were told, and %d could; %d pods missed", fall.Emptied, told, fall.Best, fall.Missed)
	}
}

// best is the most nodes that any choice of k pods can leave empty, if pods on spot nodes go first: all subsets of nodes are tried.
func (w *world) best(pods []corev1.Pod, name string, k int, prefers bool) int {
	type candidate struct{ own, tier int }
	var candidates []candidate
	sizes := [2]int{}
	for node, owners := range left(pods) {
		if owners[name] == 0 {
			continue
		}
		tier := 0
		if prefers && !w.spot[node] {
			tier = 1
		}
		sizes[tier] += owners[name]
		if len(owners) == 1 {
			candidates = append(candidates, candidate{owners[name], tier})
		}
	}
	// So many go of each tier.
	room := [2]int{min(k, sizes[0]), max(k-sizes[0], 0)}
	best := 0
	for subset := range 1 << len(candidates) {
		takes, count := [2]int{}, 0
		for i, c := range candidates {
			if subset>>i&1 == 1 {
				takes[c.tier], count = takes[c.tier]+c.own, count+1
			}
		}
		if takes[0] <= room[0] && takes[1] <= room[1] {
			best = max(best, count)
		}
	}
	return best
}

// document is what podrank prints.
type document struct {
	Pods []struct {
		Name     string    `json:"name"`
		UID      types.UID `json:"uid"`
		Wanted   bool      `json:"wanted"`
		ByItself string    `json:"byItself"`
	} `json:"pods"`
	Nodes []struct {
		BecomesEmpty bool `json:"becomesEmpty"`
	} `json:"nodes"`
	Missed []preview.PodName `json:"missed"`
}

func (w *world) podrank(ctx context.Context, arguments []string) (*document, error) {
	command := exec.CommandContext(ctx, string(w.Podrank), arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	var d document
	if json.Unmarshal(out, &d) != nil || err != nil {
		return nil, fmt.Errorf("%v: %s", err, problems.String())
	}
	return &d, nil
}

func (w *world) cleanUp(ctx context.Context) {
	w.Plane.Empty(ctx, w.namespace)
	w.Plane.DeleteNodes(ctx, "round", w.namespace)
}
