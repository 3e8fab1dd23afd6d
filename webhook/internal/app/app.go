// Package app puts the parts of podrank-webhook together. It also has what all of them need: certificates and a leader.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create,namespace=podrank-system
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=podrank-system
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=podrank-webhook,verbs=get;update,namespace=podrank-system
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=podrank-webhook-certificates,verbs=list;watch;update,namespace=podrank-system
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=podrank-webhook,verbs=get;update
package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/canary"
	"github.com/podrank/podrank/webhook/internal/cleanup"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/neighbours"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/serve"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/values"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// Names of objects that the manifests have.
const (
	CanarySet     = "podrank-canary"
	Secret        = "podrank-webhook-certificates"
	Service       = "podrank-webhook"
	Configuration = "podrank-webhook"
	Lease         = "podrank-webhook"
)

// Options are what flags set.
type Options struct {
	// Namespace is that of this program.
	Namespace string
	// Host and Port are where requests come in.
	Host string
	Port int
	// CertDir has tls.crt and tls.key. With RotateCertificates, this program makes them.
	CertDir            string
	RotateCertificates bool
	// MetricsAddress and ProbeAddress are where metrics and probes are served. "0" serves none.
	MetricsAddress, ProbeAddress string
	LeaderElection               bool
	// Mode is what all policies do at most: with Observe, nothing is steered.
	Mode v1alpha1.Mode
	// Deadline is how long a request may wait.
	Deadline time.Duration
	// DecisionsPerSecond is how many requests are decided for a namespace, and at once five times as many.
	DecisionsPerSecond int
	// ClientCA is a file with the authorities that sign the API server's client certificate, whose common name is ClientName.
	// Without, none is asked for.
	ClientCA, ClientName string
	// Values are where values of pods come from, besides the API server, and PublishValues is whether reports say them.
	Values        values.Options
	PublishValues bool
}

// Scheme has all types that are read and written.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// Run runs until the context ends, and then finishes what it has begun.
func Run(ctx context.Context, config *rest.Config, options Options) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	// Requests that wait for their turn here would miss their deadline.
	config.QPS = -1
	grace, skip := 25*time.Second, true
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme: scheme, Cache: workload.Cached(), LeaderElection: options.LeaderElection,
		// Anybody may connect to these, too, so they are served like requests.
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElectionID: Lease, LeaderElectionNamespace: options.Namespace, LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout: &grace, Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	barrier, err := canary.New(clients, types.NamespacedName{Namespace: options.Namespace, Name: CanarySet})
	if err != nil {
		return err
	}
	barrier.Observe = report.Canary
	ready := map[string]healthz.Checker{}
	handler, err := build(ctx, mgr, barrier, options, ready)
	if err != nil {
		return err
	}
	ready["canary"] = func(*http.Request) error {
		if !barrier.Synced() {
			return errors.New("the watch for canaries has not begun")
		}
		return nil
	}
	if err := errors.Join(answer(mgr, options, handler, ready), show(mgr, options, ready)); err != nil {
		return err
	}
	// The manager answers requests until after it has ended all else, and they need the barrier.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	barrier.Start(watching)
	err = mgr.Start(ctx)
	handler.Wait()
	handler.Reporter.Wait()
	return err
}

// build makes the other parts, and returns the one that answers.
func build(ctx context.Context, mgr manager.Manager, barrier *canary.Barrier, options Options, ready map[string]healthz.Checker) (*admit.Handler, error) {
	// Objects that others make, of any number and size, are read by this one.
	watches, err := client.NewWithWatch(bounded.Config(mgr.GetConfig()), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, err
	}
	// What a request waits for does not wait for the rest.
	live, later := bounded.NewReader(watches, bounded.Answers), bounded.NewReader(watches, 1)
	costs, remembered := cost.NewWriter(mgr.GetClient(), watches), &steer.Plans{}
	reporter := &report.Reporter{Statuses: &policy.Statuses{Live: later, Client: mgr.GetClient()}, Events: mgr.GetEventRecorder("podrank-webhook"), Log: mgr.GetLogger(),
		PublishValues: options.PublishValues}
	pods := neighbours.New(later, watches)
	ready["neighbours"], err = follow(ctx, mgr, pods)
	if err != nil {
		return nil, err
	}
	cordoned, err := cordonedNodes(ctx, mgr)
	if err != nil {
		return nil, err
	}
	valued, err := values.NewReader(mgr.GetConfig(), options.Values)
	if err != nil {
		return nil, err
	}
	steerer := &steer.Steerer{Values: valued, Cache: mgr.GetClient(), Cordoned: cordoned, Live: live, Later: bounded.NewReader(watches, 1), Costs: costs, Barrier: barrier,
		Neighbours: pods, Now: time.Now, Limits: steer.NewLimits(options.DecisionsPerSecond), Observes: options.Mode == v1alpha1.Observe}
	for _, object := range []client.Object{workload.Metadata("Pod"), workload.Metadata(workload.ReplicaSet)} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, object, workload.ByController, workload.Controller); err != nil {
			return nil, err
		}
	}
	// Their caches are filled before the first request comes.
	for object := range workload.Cached().ByObject {
		if _, err := mgr.GetCache().GetInformer(ctx, object); err != nil {
			return nil, err
		}
	}
	cleaner := &cleanup.Cleaner{Observes: options.Mode == v1alpha1.Observe, Cache: mgr.GetClient(), Live: later, Costs: costs, Plans: remembered, Reporter: reporter,
		Deadline: options.Deadline, Now: time.Now}
	judge := &policy.Judge{Observes: cleaner.Observes, Cache: mgr.GetClient(), Live: later, Statuses: reporter.Statuses}
	keeper := &policy.Keeper{Cache: mgr.GetClient(), Live: mgr.GetAPIReader(), Client: mgr.GetClient(), Configuration: Configuration,
		Never: []string{options.Namespace, metav1.NamespaceSystem}}
	return &admit.Handler{Steerer: steerer, Reporter: reporter, Plans: remembered, Deadline: options.Deadline,
		IsEnding: func() bool { return ctx.Err() != nil }}, errors.Join(cleaner.SetUp(mgr), judge.SetUp(mgr), keeper.SetUp(mgr))
}

// cordonedNodes caches the metadata of nodes that are cordoned, which the metadata of all nodes does not tell.
func cordonedNodes(ctx context.Context, mgr manager.Manager) (client.Reader, error) {
	cordoned, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{
			workload.Metadata("Node"): {Transform: workload.Strip, Field: fields.OneTermEqualSelector("spec.unschedulable", "true")},
		},
	})
	if err != nil {
		return nil, err
	}
	_, err = cordoned.GetInformer(ctx, workload.Metadata("Node"))
	return cordoned, errors.Join(err, mgr.Add(always(cordoned.Start)))
}

// follow has the pods of the cluster known once there is a policy that needs them, and returns what checks that.
func follow(ctx context.Context, mgr manager.Manager, pods *neighbours.Pods) (healthz.Checker, error) {
	policies, err := mgr.GetCache().GetInformer(ctx, &v1alpha1.ScaleDownPolicy{})
	if err != nil {
		return nil, err
	}
	look := func(object any) {
		if policy, ok := object.(*v1alpha1.ScaleDownPolicy); ok && policy.Spec.EmptyNodes {
			pods.Want()
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
	for path, checks := range map[string]map[string]healthz.Checker{"/healthz": {"alive": healthz.Ping}, "/readyz": ready} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		probes.Handle(path, handler)
		probes.Handle(path+"/", handler)
	}
	numbers.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, rendering))
	for name, handler := range map[string]*http.ServeMux{"metrics": numbers, "probes": probes} {
		address := map[string]string{"metrics": options.MetricsAddress, "probes": options.ProbeAddress}[name]
		if address == "0" {
			continue
		}
		listener, err := serve.Listen(address)
		if err != nil {
			return err
		}
		// They have no bodies to read.
		server := serve.New(handler)
		server.ReadTimeout, server.WriteTimeout = bounded.HeaderTime, 10*bounded.HeaderTime
		if err := mgr.Add(&manager.Server{Name: name, Server: server, Listener: listener}); err != nil {
			return err
		}
	}
	return nil
}

// answer makes the manager answer requests.
func answer(mgr manager.Manager, options Options, handler *admit.Handler, ready map[string]healthz.Checker) error {
	asks, err := clients(options.ClientCA, options.ClientName)
	if err != nil {
		return err
	}
	requests := &serve.Server{
		Server: webhook.NewServer(webhook.Options{}), Answering: options.Deadline + bounded.HeaderTime,
		Address: net.JoinHostPort(options.Host, strconv.Itoa(options.Port)), Directory: options.CertDir, Clients: asks,
	}
	requests.Register(admit.Path, serve.Guard(admit.Reviews(handler)))
	if options.RotateCertificates {
		certified := make(chan struct{})
		err = rotator.AddRotator(withOneSecret(mgr, options.Namespace), &rotator.CertRotator{
			SecretKey: types.NamespacedName{Namespace: options.Namespace, Name: Secret},
			CertDir:   options.CertDir, CAName: "podrank-webhook-ca", CAOrganization: "podrank",
			DNSName: fmt.Sprintf("%s.%s.svc", Service, options.Namespace), IsReady: certified,
			Webhooks: []rotator.WebhookInfo{{Name: Configuration, Type: rotator.Validating}},
		})
		if err != nil {
			return err
		}
		// The server cannot start without certificates.
		err = mgr.Add(always(func(ctx context.Context) error {
			select {
			case <-certified:
				return mgr.Add(requests)
			case <-ctx.Done():
				return nil
			}
		}))
		if err != nil {
			return err
		}
	} else if err := mgr.Add(requests); err != nil {
		return err
	}
	ready["requests"] = requests.StartedChecker()
	return nil
}

// always is something that runs on every replica, and not only on the leader.
type always func(context.Context) error

func (a always) Start(ctx context.Context) error { return a(ctx) }
func (always) NeedLeaderElection() bool          { return false }

// clients makes the server refuse clients unless an authority of this file has signed their certificate, and its common name is this
// one. Without a file, it takes all.
func clients(file, name string) (func(*tls.Config), error) {
	switch {
	case file == "" && name == "":
		return func(*tls.Config) {}, nil
	case file == "" || name == "":
		return nil, errors.New("--client-ca and --client-name need each other: an authority often signs for others, too")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return func(config *tls.Config) {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, authorities
		config.VerifyConnection = func(state tls.ConnectionState) error {
			if got := state.PeerCertificates[0].Subject.CommonName; got != name {
				return fmt.Errorf("the client is %q, and not %q", got, name)
			}
			return nil
		}
	}, nil
}

// withOneSecret is the manager with a configuration that lists and watches one Secret of the namespace instead of all. So the library
// that makes certificates, which caches all Secrets of a namespace, needs the right to this one alone.
func withOneSecret(mgr manager.Manager, namespace string) manager.Manager {
	config := rest.CopyConfig(mgr.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return oneSecret{next, "/api/v1/namespaces/" + namespace + "/secrets"}
	})
	return configured{mgr, config}
}

type configured struct {
	manager.Manager
	config *rest.Config
}

func (c configured) GetConfig() *rest.Config { return c.config }

// oneSecret names the Secret in requests for the path of all.
type oneSecret struct {
	http.RoundTripper
	path string
}

func (o oneSecret) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, o.path) {
		request = request.Clone(request.Context())
		query := request.URL.Query()
		query.Set("fieldSelector", "metadata.name="+Secret)
		request.URL.RawQuery = query.Encode()
	}
	return o.RoundTripper.RoundTrip(request)
}
