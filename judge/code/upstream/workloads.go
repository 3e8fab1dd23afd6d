package upstream

import (
	"context"
	"time"
	_ "unsafe" // go:linkname

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/utils/clock"
)

// As in linked.go.

//go:linkname syncJob k8s.io/kubernetes/pkg/controller/job.(*Controller).syncJob
func syncJob(c *job.Controller, ctx context.Context, key string) error

//go:linkname updateDaemonSet k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).updateDaemonSet
func updateDaemonSet(c *daemon.DaemonSetsController, ctx context.Context, set *appsv1.DaemonSet, nodes []*v1.Node, hash, key string,
	old []*appsv1.ControllerRevision) error

//go:linkname newJobController k8s.io/kubernetes/pkg/controller/job.newControllerWithClock
func newJobController(ctx context.Context, client clientset.Interface, clock clock.WithTicker, pods coreinformers.PodInformer,
	jobs batchinformers.JobInformer, workloads schedulinginformers.WorkloadInformer, groups schedulinginformers.PodGroupInformer,
) (*job.Controller, error)

// A PodSync is what one sync did to pods.
type PodSync struct {
	// Deleted has the names of the deleted pods.
	Deleted map[string]bool
	// Created is how many pods were created.
	Created int
}

// podRecorder is as much of an API server as these controllers ask for. It records the last sync.
func podRecorder(last *PodSync) *fake.Clientset {
	return recorder(func(action clienttesting.Action, _ runtime.Object) error {
		switch action.GetVerb() {
		case "delete":
			last.Deleted[action.(clienttesting.DeleteAction).GetName()] = true
		case "create":
			last.Created++
		}
		return nil
	})
}

// A JobController is Kubernetes' own, on objects in memory: its whole syncJob decides. Only one goroutine may use it at
// a time.
type JobController struct {
	controller *job.Controller
	jobs, pods cache.Indexer
	api        *fake.Clientset
	last       PodSync
	clock      *clockAt
}

// endsWith has a controller end its queues and events with the context, which nothing but the end of a run does. If their clock stands still, queues whose
// items wait for a moment never rest.
func endsWith(ctx context.Context, controller interface {
	Run(ctx context.Context, workers int)
}) {
	context.AfterFunc(ctx, func() { controller.Run(klog.NewContext(ctx, klog.Logger{}), 0) })
}

// A clockAt tells a time that is set. Its timers are real ones: those of a fake clock are never dropped, and each new time looks at all.
type clockAt struct {
	clock.RealClock
	now time.Time
}

// Now is that time.
func (c *clockAt) Now() time.Time { return c.now }

// Since is how long before that time the other one was.
func (c *clockAt) Since(other time.Time) time.Duration { return c.now.Sub(other) }

// NewJobController makes one, which ends with the context.
func NewJobController(ctx context.Context) (*JobController, error) {
	c := &JobController{clock: &clockAt{now: time.Unix(0, 0)}}
	c.api = podRecorder(&c.last)
	// Never started: the stores hold what Sync puts there.
	factory := informers.NewSharedInformerFactory(c.api, 0)
	pods, jobs := factory.Core().V1().Pods(), factory.Batch().V1().Jobs()
	c.pods, c.jobs = pods.Informer().GetIndexer(), jobs.Informer().GetIndexer()
	var err error
	c.controller, err = newJobController(ctx, c.api, c.clock, pods, jobs,
		factory.Scheduling().V1beta1().Workloads(), factory.Scheduling().V1beta1().PodGroups())
	if err == nil {
		endsWith(ctx, c.controller)
	}
	return c, err
}

// Sync runs one sync, at now. The controller remembers what it did for a name and a UID, so give each Job its own.
func (c *JobController) Sync(j *batchv1.Job, pods []*v1.Pod, now time.Time) (PodSync, error) {
	c.clock.now = now
	replace(c.jobs, []*batchv1.Job{j})
	replace(c.pods, pods)
	c.api.ClearActions()
	c.last = PodSync{Deleted: map[string]bool{}}
	err := syncJob(c.controller, context.Background(), j.Namespace+"/"+j.Name)
	return c.last, err
}

// A DaemonSetController is Kubernetes' own, on objects in memory: its whole updateDaemonSet decides, which is syncDaemonSet without
// the history and the status. Only one goroutine may use it at a time.
type DaemonSetController struct {
	controller  *daemon.DaemonSetsController
	pods, nodes cache.Indexer
	api         *fake.Clientset
	last        PodSync
	backoff     *flowcontrol.Backoff
}

// NewDaemonSetController makes one, which ends with the context.
func NewDaemonSetController(ctx context.Context) (*DaemonSetController, error) {
	// Long, so that no delay ends during a sync.
	c := &DaemonSetController{backoff: flowcontrol.NewBackOff(time.Hour, 2*time.Hour)}
	c.api = podRecorder(&c.last)
	factory := informers.NewSharedInformerFactory(c.api, 0)
	apps, core := factory.Apps().V1(), factory.Core().V1()
	c.pods, c.nodes = core.Pods().Informer().GetIndexer(), core.Nodes().Informer().GetIndexer()
	var err error
	c.controller, err = daemon.NewDaemonSetsController(
		ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), c.api, c.backoff)
	if err == nil {
		endsWith(ctx, c.controller)
	}
	return c, err
}

// Sync runs one sync of a DaemonSet with this revision. On the nodes named in backedOff, a failed pod was deleted just now. The
// controller remembers what it did for a name and a UID, so give each DaemonSet its own.
func (c *DaemonSetController) Sync(
	set *appsv1.DaemonSet, revision string, nodes []*v1.Node, pods []*v1.Pod, backedOff []string,
) (PodSync, error) {
	replace(c.pods, pods)
	replace(c.nodes, nodes)
	for _, node := range backedOff {
		c.backoff.Next(string(set.UID)+"/0/"+node, time.Now())
	}
	c.api.ClearActions()
	c.last = PodSync{Deleted: map[string]bool{}}
	err := updateDaemonSet(c.controller, context.Background(), set, nodes, revision, set.Namespace+"/"+set.Name, nil)
	return c.last, err
}

// NodeShouldRunDaemonPod returns whether a pod may start on the node, and whether one that runs there may go on.
func NodeShouldRunDaemonPod(node *v1.Node, set *appsv1.DaemonSet) (mayStart, mayKeep bool) {
	return daemon.NodeShouldRunDaemonPod(klog.Logger{}, node, set)
}
