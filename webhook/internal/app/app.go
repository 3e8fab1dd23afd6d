// Package app puts the parts of podrank-webhook together. It also has what all of them need: certificates and a leader.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create,namespace=podrank-system
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=podrank-system
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=podrank-webhook,verbs=get;update,namespace=podrank-system
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=podrank-webhook-certificates,verbs=list;watch;update,namespace=podrank-system
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=podrank-webhook,verbs=list;watch;update
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/barrier"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cleanup"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/nodepods"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/probe"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/serve"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/values"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// Names of objects that the manifests have.
const (
	BarrierSet    = "podrank-barrier"
	Secret        = "podrank-webhook-certificates"
	Service       = "podrank-webhook"
	Configuration = "podrank-webhook"
	Lease         = "podrank-webhook"
)

// Options are what flags set.
type Options struct {
	// Namespace is that of this program.
	Namespace string
	// CertDir has tls.crt and tls.key. With RotateCertificates, this program makes them.
	CertDir            string
	RotateCertificates bool
	// Address is where requests come in, and MetricsAddress and ProbeAddress where metrics and probes are served.
	Address, MetricsAddress, ProbeAddress string
	// Mode is what all policies do at most: with Observe, nothing is steered.
	Mode v1alpha1.Mode
	// ForeignCosts is what policies may say about foreign costs.
	ForeignCosts []v1alpha1.ForeignCosts
	// Deadline is how long a request may wait.
	Deadline time.Duration
	// DecisionsPerSecond limits the requests that are decided for a namespace. A burst may have five times as many.
	DecisionsPerSecond int
	// ProbeInterval is how often the leader finds out whether the API server reaches this program.
	ProbeInterval time.Duration
	// ClientCA is a file with the authorities that sign the API server's client certificate, whose common name is ClientName.
	// Without, none is asked for.
	ClientCA, ClientName string
	// Values are the sources of values of pods, in addition to the API server. PublishValues is whether reports contain
	// the values.
	Values        values.Options
	PublishValues bool
}

// AllowForeignCosts allows policies to say this about foreign costs.
func (o *Options) AllowForeignCosts(text string) error {
	costs := v1alpha1.ForeignCosts(text)
	if !slices.Contains([]v1alpha1.ForeignCosts{v1alpha1.Keep, v1alpha1.Follow, v1alpha1.Override}, costs) {
		return errors.New("must be Keep, Follow or Override")
	}
	o.ForeignCosts = append(o.ForeignCosts, costs)
	return nil
}

// Scheme has all types that are read and written.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	return scheme
}

// Run runs until the context ends, and then finishes what it has begun.
func Run(ctx context.Context, config *rest.Config, options Options) error {
	config = rest.CopyConfig(config)
	// Requests that wait for their turn here would miss their deadline.
	config.QPS = -1
	ofOwnObjects(config, options.Namespace)
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme: Scheme(), Cache: workload.Cached(), LeaderElection: true,
		// Anybody may connect to these, too, so they are served like requests.
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElectionID: Lease, LeaderElectionNamespace: options.Namespace, LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout: new(25 * time.Second), Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return err
	}
	// The manager has made clients of this configuration, too.
	proves := barrier.New(kubernetes.NewForConfigOrDie(config), types.NamespacedName{Namespace: options.Namespace, Name: BarrierSet}, report.Barrier)
	ready := map[string]healthz.Checker{}
	handler, err := build(ctx, mgr, proves, options, ready)
	if err != nil {
		return err
	}
	if err := errors.Join(answer(mgr, options, handler, ready), show(mgr, options, ready)); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// Uninstall stops steering, removes from all pods what this program has written, and returns of how many it has.
func Uninstall(ctx context.Context, config *rest.Config, options Options) (int, error) {
	to, err := client.NewWithWatch(bounded.Config(config), client.Options{Scheme: Scheme()})
	if err != nil {
		return 0, err
	}
	return cleanup.Uninstall(ctx, to, Configuration, options.Deadline+cleanup.Grace)
}

// build makes the other parts, and returns the one that answers.
func build(ctx context.Context, mgr manager.Manager, proves *barrier.Barrier, options Options, ready map[string]healthz.Checker) (*admit.Handler, error) {
	// This client reads the objects of users, of which there may be any number, of any size.
	watches, err := client.NewWithWatch(bounded.Config(mgr.GetConfig()), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, err
	}
	// What a request waits for does not wait for the rest.
	live, later := bounded.NewReader(watches, bounded.Answers), bounded.NewReader(watches, 1)
	costs := cost.NewWriter(mgr.GetClient(), watches)
	reporter := &report.Reporter{Statuses: &policy.Statuses{Live: later, Client: mgr.GetClient()}, Events: mgr.GetEventRecorder("podrank-webhook"), Log: mgr.GetLogger(),
		PublishValues: options.PublishValues}
	pods := nodepods.New(later, watches)
	ready["nodepods"], err = follow(ctx, mgr, pods)
	valued, noReader := values.NewReader(mgr.GetConfig(), options.Values)
	failed := []error{err, noReader}
	steerer := &steer.Steerer{Values: valued, Cache: mgr.GetClient(), Live: live, Later: bounded.NewReader(watches, 1), Costs: costs, Barrier: proves.Wait,
		NodePods: pods, Now: time.Now, Limits: steer.NewLimits(options.DecisionsPerSecond), Observes: options.Mode == v1alpha1.Observe, ForeignCosts: options.ForeignCosts}
	for _, object := range []client.Object{workload.Metadata("Pod"), workload.Metadata(workload.ReplicaSet)} {
		failed = append(failed, mgr.GetFieldIndexer().IndexField(ctx, object, workload.ByController, workload.Controller))
	}
	// Their caches are filled before the first request comes.
	for object := range workload.Cached().ByObject {
		_, err := mgr.GetCache().GetInformer(ctx, object)
		failed = append(failed, err)
	}
	cleaner := &cleanup.Cleaner{Observes: options.Mode == v1alpha1.Observe, Cache: mgr.GetClient(), Live: later, Costs: costs, Reporter: reporter,
		Deadline: options.Deadline, Now: time.Now}
	probes := probe.New(mgr.GetConfig(), options.Namespace, options.ProbeInterval, report.Probed, mgr.GetLogger())
	judge := &policy.Judge{ForeignCosts: options.ForeignCosts, Observes: cleaner.Observes, Cache: mgr.GetClient(), Live: later, Client: mgr.GetClient(), Statuses: reporter.Statuses,
		Namespace: options.Namespace, Probe: probes.Run}
	failed = append(failed, cleaner.SetUp(mgr), judge.SetUp(mgr))
	return admit.New(steerer, reporter, options.Namespace, options.Deadline), errors.Join(failed...)
}

// follow has the pods of the cluster known once there is a policy that needs them, and returns what checks that.
func follow(ctx context.Context, mgr manager.Manager, pods *nodepods.Pods) (healthz.Checker, error) {
	policies, err := mgr.GetCache().GetInformer(ctx, &v1alpha1.ScaleDownPolicy{})
	if err != nil {
		return nil, err
	}
	look := func(object any) {
		if policy, ok := object.(*v1alpha1.ScaleDownPolicy); ok && policy.Spec.EmptyNodes == v1alpha1.EmptyNodesPrefer {
			pods.Need()
		}
	}
	seen, err := policies.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, object any) { look(object) }})
	return func(*http.Request) error { return pods.Check(seen.HasSynced) }, errors.Join(err, mgr.Add(pods))
}

// rendering is how metrics are shown: each request that is being answered takes a megabyte with compression, and half of one without.
var rendering = promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: bounded.Renderings, CoalesceGather: true, DisableCompression: true}

// show serves metrics and probes.
func show(mgr manager.Manager, options Options, ready map[string]healthz.Checker) error {
	probes, numbers := http.NewServeMux(), http.NewServeMux()
	probes.Handle("/healthz", healthz.CheckHandler{Checker: healthz.Ping})
	probes.Handle("/readyz", http.StripPrefix("/readyz", &healthz.Handler{Checks: ready}))
	numbers.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, rendering))
	add := func(name, address string, handler http.Handler) error {
		server, err := serve.New(name, address, handler, nil)
		if err != nil {
			return err
		}
		return mgr.Add(server)
	}
	return errors.Join(add("metrics", options.MetricsAddress, numbers), add("probes", options.ProbeAddress, probes))
}

// answer makes the manager answer requests, on every replica.
func answer(mgr manager.Manager, options Options, handler *admit.Handler, ready map[string]healthz.Checker) error {
	secure, err := clients(options.ClientCA, options.ClientName)
	if err != nil {
		return err
	}
	// It is read for each handshake, and so when it is renewed.
	secure.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(filepath.Join(options.CertDir, "tls.crt"), filepath.Join(options.CertDir, "tls.key"))
		return &pair, err
	}
	routes := http.NewServeMux()
	routes.Handle(admit.Path, serve.Guard(admit.Reviews(handler)))
	requests, err := serve.New("requests", options.Address, routes, secure)
	if err != nil {
		return err
	}
	requests.Server.WriteTimeout = options.Deadline + bounded.RequestTime
	var answers atomic.Bool
	certified := make(chan struct{})
	ready["requests"] = func(*http.Request) error {
		select {
		case <-certified:
		default:
			return errors.New("the API server does not trust the certificate yet")
		}
		if !answers.Load() {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
	// The manager would start a server of its own before the caches are filled.
	err = mgr.Add(always(func(ctx context.Context) error {
		answers.Store(true)
		// It needs the caches and the recorder of events, too.
		defer handler.Wait()
		return requests.Start(ctx)
	}))
	if !options.RotateCertificates {
		close(certified)
		return err
	}
	return errors.Join(err, rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey: types.NamespacedName{Namespace: options.Namespace, Name: Secret},
		CertDir:   options.CertDir, CAName: "podrank-webhook-ca", CAOrganization: "podrank",
		DNSName: fmt.Sprintf("%s.%s.svc", Service, options.Namespace), IsReady: certified,
		Webhooks: []rotator.WebhookInfo{{Name: Configuration, Type: rotator.Validating}},
	}))
}

// always is something that runs on every replica, and not only on the leader.
type always func(context.Context) error

func (a always) Start(ctx context.Context) error { return a(ctx) }
func (always) NeedLeaderElection() bool          { return false }

// clients makes a server refuse clients unless an authority of this file has signed their certificate, and its common name is this
// one. Without a file, it takes all.
func clients(file, name string) (*tls.Config, error) {
	switch {
	case file == "" && name == "":
		return &tls.Config{}, nil
	case file == "" || name == "":
		return nil, errors.New("--client-ca and --client-name need each other: an authority often signs for others, too")
	}
	authorities, err := cert.NewPool(file)
	if err != nil {
		return nil, err
	}
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities, VerifyConnection: func(state tls.ConnectionState) error {
		if got := state.PeerCertificates[0].Subject.CommonName; got != name {
			return fmt.Errorf("the client is %q, and not %q", got, name)
		}
		return nil
	}}, nil
}

// ofOwnObjects has a configuration list and watch one Secret of the namespace and one webhook configuration instead of all. So the library that makes
// certificates, which caches all of them, needs the right to these alone.
func ofOwnObjects(config *rest.Config, namespace string) {
	own := map[string]string{
		"/api/v1/namespaces/" + namespace + "/secrets":                          Secret,
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": Configuration,
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return promhttp.RoundTripperFunc(func(request *http.Request) (*http.Response, error) {
			for path, name := range own {
				if strings.HasSuffix(request.URL.Path, path) {
					request = request.Clone(request.Context())
					query := request.URL.Query()
					query.Set("fieldSelector", "metadata.name="+name)
					request.URL.RawQuery = query.Encode()
				}
			}
			return next.RoundTrip(request)
		})
	})
}
