package upstream

import (
	"context"
	"sync"
	"time"
	_ "unsafe" // go:linkname

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	clientset "k8s.io/client-go/kubernetes"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
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

// A JobController is Kubernetes' own, on objects in memory: its whole syncJob decides. It is not for use by several goroutines at
// once.
type JobController struct {
	controller *job.Controller
	jobs, pods cache.Indexer
	api        *podRecorder
	clock      *clocktesting.FakeClock
}

// NewJobController makes one.
func NewJobController() (*JobController, error) {
	api := &podRecorder{}
	// Never started: the stores hold what Sync puts there.
	factory := informers.NewSharedInformerFactory(api, 0)
	pods, jobs := factory.Core().V1().Pods(), factory.Batch().V1().Jobs()
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	controller, err := newJobController(context.Background(), api, clock, pods, jobs,
		factory.Scheduling().V1beta1().Workloads(), factory.Scheduling().V1beta1().PodGroups())
	if err != nil {
		return nil, err
	}
	return &JobController{controller: controller, api: api, clock: clock,
		jobs: jobs.Informer().GetIndexer(), pods: pods.Informer().GetIndexer()}, nil
}

// Sync runs one sync, at now. The controller remembers what it did for a name and a UID, so give each Job its own.
func (c *JobController) Sync(j *batchv1.Job, pods []*v1.Pod, now time.Time) (PodSync, error) {
	c.clock.SetTime(now)
	if err := replace(c.jobs, []*batchv1.Job{j}); err != nil {
		return PodSync{}, err
	}
	if err := replace(c.pods, pods); err != nil {
		return PodSync{}, err
	}
	c.api.PodSync = PodSync{Deleted: map[string]bool{}}
	err := syncJob(c.controller, context.Background(), j.Namespace+"/"+j.Name)
	return c.api.PodSync, err
}

// A DaemonSetController is Kubernetes' own, on objects in memory: its whole updateDaemonSet decides, which is syncDaemonSet without
// the history and the status. It is not for use by several goroutines at once.
type DaemonSetController struct {
	controller  *daemon.DaemonSetsController
	pods, nodes cache.Indexer
	api         *podRecorder
	backoff     *flowcontrol.Backoff
}

// NewDaemonSetController makes one.
func NewDaemonSetController() (*DaemonSetController, error) {
	api := &podRecorder{}
	factory := informers.NewSharedInformerFactory(api, 0)
	apps, core := factory.Apps().V1(), factory.Core().V1()
	// Long, so that no delay ends during a sync.
	backoff := flowcontrol.NewBackOff(time.Hour, 2*time.Hour)
	controller, err := daemon.NewDaemonSetsController(
		context.Background(), apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), api, backoff)
	if err != nil {
		return nil, err
	}
	return &DaemonSetController{controller: controller, api: api, backoff: backoff,
		pods: core.Pods().Informer().GetIndexer(), nodes: core.Nodes().Informer().GetIndexer()}, nil
}

// Sync runs one sync of a DaemonSet with this revision. On the nodes named in backedOff, a failed pod was deleted just now. The
// controller remembers what it did for a name and a UID, so give each DaemonSet its own.
func (c *DaemonSetController) Sync(
	set *appsv1.DaemonSet, revision string, nodes []*v1.Node, pods []*v1.Pod, backedOff []string,
) (PodSync, error) {
	if err := replace(c.pods, pods); err != nil {
		return PodSync{}, err
	}
	if err := replace(c.nodes, nodes); err != nil {
		return PodSync{}, err
	}
	for _, node := range backedOff {
		c.backoff.Next(string(set.UID)+"/0/"+node, time.Now())
	}
	c.api.PodSync = PodSync{Deleted: map[string]bool{}}
	err := updateDaemonSet(c.controller, context.Background(), set, nodes, revision, set.Namespace+"/"+set.Name, nil)
	return c.api.PodSync, err
}

// NodeShouldRunDaemonPod returns whether a pod may start on the node, and whether one that runs there may go on.
func NodeShouldRunDaemonPod(node *v1.Node, set *appsv1.DaemonSet) (mayStart, mayKeep bool) {
	return daemon.NodeShouldRunDaemonPod(klog.Logger{}, node, set)
}

// A podRecorder is as much of an API server as the two controllers ask for.
type podRecorder struct {
	clientset.Interface
	mutex sync.Mutex
	PodSync
}

func (r *podRecorder) CoreV1() coreclient.CoreV1Interface    { return coreRecorder{recorder: r} }
func (r *podRecorder) BatchV1() batchclient.BatchV1Interface { return batchRecorder{} }

type coreRecorder struct {
	coreclient.CoreV1Interface
	recorder *podRecorder
}

func (r coreRecorder) Pods(string) coreclient.PodInterface { return podWriter{recorder: r.recorder} }

type batchRecorder struct{ batchclient.BatchV1Interface }

func (batchRecorder) Jobs(string) batchclient.JobInterface { return jobWriter{} }

type podWriter struct {
	coreclient.PodInterface
	recorder *podRecorder
}

func (w podWriter) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	w.recorder.mutex.Lock()
	defer w.recorder.mutex.Unlock()
	w.recorder.Deleted[name] = true
	return nil
}

func (w podWriter) Create(_ context.Context, pod *v1.Pod, _ metav1.CreateOptions) (*v1.Pod, error) {
	w.recorder.mutex.Lock()
	defer w.recorder.mutex.Unlock()
	w.recorder.Created++
	return pod, nil
}

// Patch is asked to take finalizers off.
func (podWriter) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*v1.Pod, error) {
	return &v1.Pod{}, nil
}

// A jobWriter accepts every status.
type jobWriter struct{ batchclient.JobInterface }

func (jobWriter) UpdateStatus(_ context.Context, j *batchv1.Job, _ metav1.UpdateOptions) (*batchv1.Job, error) {
	return j, nil
}
