// Podrank-webhook makes Kubernetes delete the pods that ScaleDownPolicies select, whichever client scales: it sees the count of a set
// fall, writes deletion costs just then, and lets the request through.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/app"
	"github.com/podrank/podrank/webhook/internal/decide"
)

func main() {
	options := app.Options{}
	flag.StringVar(&options.Namespace, "namespace", os.Getenv("POD_NAMESPACE"),
		"namespace of this program and its barrier pods; default: the environment variable POD_NAMESPACE")
	flag.StringVar(&options.Address, "bind-address", ":9443", "address for admission requests")
	flag.StringVar(&options.CertDir, "cert-dir", "/certificates", "directory with tls.crt and tls.key")
	flag.BoolVar(&options.RotateCertificates, "rotate-certificates", true,
		"make and rotate the certificates; otherwise something else must, such as cert-manager")
	flag.StringVar(&options.MetricsAddress, "metrics-bind-address", ":8080", "address for metrics")
	flag.StringVar(&options.ProbeAddress, "health-probe-bind-address", ":8081", "address for /healthz and /readyz")
	flag.StringVar((*string)(&options.Mode), "mode", string(v1alpha1.Steer),
		"Steer, or Observe: whatever policies say, write no costs, and remove those that are there")
	flag.DurationVar(&options.Deadline, "deadline", time.Second,
		"longest time that a request waits; it must be shorter than the timeoutSeconds of the webhook")
	flag.DurationVar(&options.ProbeInterval, "probe-interval", time.Minute,
		"how often the leader sends a dry-run scale-down through the API server, to find out whether it arrives")
	flag.IntVar(&options.DecisionsPerSecond, "decisions-per-second", 10,
		"limit of scale-downs that are decided per second in a namespace, with a burst of five times as many. Others are let through")
	flag.Func("foreign-costs", "Follow or Override, which `foreignCosts` of policies may then be: both overwrite costs that another program wrote; repeatable",
		options.AllowForeignCosts)
	flag.StringVar(&options.ClientCA, "client-ca", "",
		"file with the authorities that sign the client certificate of the API server; default: any client may ask")
	flag.StringVar(&options.ClientName, "client-name", "", "common name of that certificate")
	flag.StringVar(&options.Values.Prometheus, "prometheus", "", "address of Prometheus, which answers the queries that policies name")
	flag.StringVar(&options.Values.CA, "prometheus-ca", "", "file with the authorities that sign its certificate; default: those of the system")
	flag.StringVar(&options.Values.Token, "prometheus-token", "", "file with a token for it, which is read again every minute")
	flag.Func("prometheus-query", "NAME=PROMQL: what a policy asks for by `query: NAME`, with $namespace for its namespace; repeatable",
		options.Values.AddQuery)
	flag.BoolVar(&options.PublishValues, "publish-values", false, "say in events and in the log which values pods have")
	uninstall := flag.Bool("uninstall", false, "delete the webhook configuration, remove from all pods what this program has written, and exit")
	version := flag.Bool("version", false, "print the release of podrank and its engine, and exit")
	logging := zap.Options{}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	if *version {
		fmt.Println(decide.Version())
		return
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))
	if err := run(options, *uninstall); err != nil {
		fmt.Fprintln(os.Stderr, "podrank-webhook:", err)
		os.Exit(1)
	}
}

func run(options app.Options, uninstall bool) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: all options are flags", flag.Arg(0))
	case options.Namespace == "":
		return fmt.Errorf("no namespace: set --namespace or POD_NAMESPACE to that of this program")
	case options.Mode != v1alpha1.Steer && options.Mode != v1alpha1.Observe:
		return fmt.Errorf("--mode %q: it must be Steer or Observe", options.Mode)
	case options.Deadline <= 0:
		return fmt.Errorf("--deadline %v: it must be longer than 0", options.Deadline)
	case options.ProbeInterval <= 0:
		return fmt.Errorf("--probe-interval %v: it must be longer than 0", options.ProbeInterval)
	case options.DecisionsPerSecond <= 0:
		return fmt.Errorf("--decisions-per-second %d: it must be more than 0", options.DecisionsPerSecond)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot reach the cluster: %w", err)
	}
	ctx := ctrl.SetupSignalHandler()
	if !uninstall {
		return app.Run(ctx, config, options)
	}
	removed, err := app.Uninstall(ctx, config, options)
	fmt.Printf("removed deletion costs of podrank-webhook from pods: %d\n", removed)
	return err
}
