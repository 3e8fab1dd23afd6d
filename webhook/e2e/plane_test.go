//go:build controlplane

// Package e2e has tests on a real control plane, which `make cluster` gets and judge/cluster/up starts. They run the program as a
// cluster does: with its chart, and with exactly the rights of its service account.
//
//	go test -tags controlplane ./e2e
package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/app"
)

const system = "podrank-system"

// Most tests would take long at the rate that kube-controller-manager has by default, 20.
var qps = flag.Int("qps", 1000, "requests a second that kube-controller-manager makes at most")

// plane is the control plane that all tests share.
var plane *Plane

// Plane is a control plane with podrank-webhook.
type Plane struct {
	client.Client
	Clients    *kubernetes.Clientset
	Config     *rest.Config
	Dir        string
	Kubeconfig string
	Proxy      *Proxy
	program    string
	ca         []byte
	mu         sync.Mutex
	// running are the replicas of the program, as many as the chart has by default. The proxy asks them in turn.
	running []*exec.Cmd
	// beside is another program that ends with the tests.
	beside *exec.Cmd
	// Where each replica serves requests, metrics and probes. port is that of the first.
	ports           [replicas]int
	metrics, probes [replicas]string
	port            int
}

// replicas is how many the chart has by default.
const replicas = 2

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	status := 1
	func() {
		dir, err := os.MkdirTemp("", "podrank-webhook-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		stop := sync.OnceFunc(func() {
			if plane != nil {
				plane.Kill()
			}
			if plane != nil && plane.beside != nil && plane.beside.Process != nil {
				_ = plane.beside.Process.Kill()
			}
			_, _ = script("down", filepath.Join(dir, "plane"))
			os.RemoveAll(dir)
		})
		defer stop()
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-interrupted
			stop()
			os.Exit(1)
		}()
		if plane, err = start(dir); err != nil {
			fmt.Fprintln(os.Stderr, "cannot start:", err)
			if plane != nil {
				fmt.Fprintln(os.Stderr, plane.log())
			}
			return
		}
		status = m.Run()
	}()
	os.Exit(status)
}

func script(name string, arguments ...string) (string, error) {
	command := exec.Command(filepath.Join("..", "..", "judge", "cluster", name), arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("judge/cluster/%s: %w: %s", name, err, problems.String())
	}
	return string(out), err
}

// start starts a control plane with everything in it.
func start(dir string) (*Plane, error) {
	p := &Plane{Dir: filepath.Join(dir, "plane"), program: filepath.Join(dir, "podrank-webhook")}
	if out, err := exec.Command("make", "-s", "-C", "..", "build", "BIN="+p.program).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	said, err := exec.Command(p.program, "--version").Output()
	if engine := os.Getenv("ENGINE"); err != nil || engine != "" && !strings.Contains(string(said), engine) {
		return nil, fmt.Errorf("the engine is not %s: %q: %w", engine, said, err)
	}
	out, err := script("up", p.Dir, "--qps", strconv.Itoa(*qps), "--kubelet", "1", "--autoscale", fmt.Sprintf("%.0f", period.Seconds()))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "KUBECONFIG="); ok {
			p.Kubeconfig = value
		}
	}
	if p.Config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig); err != nil {
		return nil, err
	}
	p.Config.QPS = -1
	if p.Clients, err = kubernetes.NewForConfig(p.Config); err != nil {
		return nil, err
	}
	if release := os.Getenv("PODRANK_CLUSTER_RELEASE"); release != "" {
		if got, err := p.Clients.Discovery().ServerVersion(); err != nil || got.GitVersion != release {
			return nil, fmt.Errorf("not a control plane of %s, but %v: %w", release, got, err)
		}
	}
	if err := p.Install("--set", "createNamespace=true"); err != nil {
		return nil, err
	}
	if p.Client, err = client.New(p.Config, client.Options{Scheme: app.Scheme()}); err != nil {
		return nil, err
	}
	if err := p.certify(dir); err != nil {
		return nil, err
	}
	if err := p.Run(); err != nil {
		return p, err
	}
	return p, p.register()
}

// Install applies what the chart renders with these flags of Helm.
func (p *Plane) Install(flags ...string) error {
	render, apply := exec.Command("../check/render", flags...), exec.Command("kubectl", "--kubeconfig", p.Kubeconfig, "apply", "--server-side", "-f", "-")
	render.Stderr = os.Stderr
	rendered, err := render.Output()
	if err != nil {
		return fmt.Errorf("rendering the chart: %w", err)
	}
	apply.Stdin = bytes.NewReader(rendered)
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("applying the chart: %w: %s", err, out)
	}
	return nil
}

// Kubectl runs kubectl.
func (p *Plane) Kubectl(arguments ...string) error {
	out, err := exec.Command("kubectl", append([]string{"--kubeconfig", p.Kubeconfig}, arguments...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// certify makes a certificate, for the program and for the proxy before it.
func (p *Plane) certify(dir string) error {
	authority, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return err
	}
	p.ca = authority
	for name, text := range map[string][]byte{"tls.crt": authority, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	pair, err := tls.X509KeyPair(authority, key)
	if err != nil {
		return err
	}
	for i := range replicas {
		p.ports[i] = freePort()
		p.metrics[i], p.probes[i] = fmt.Sprintf("127.0.0.1:%d", freePort()), fmt.Sprintf("127.0.0.1:%d", freePort())
	}
	p.port = p.ports[0]
	p.Proxy, err = newProxy(pair, p.ports)
	return err
}

// freePort is a port that nobody listens on, below those that Linux gives to outgoing connections: one of these could take it
// before it is used.
func freePort() int {
	for {
		port := 20_000 + rand.IntN(12_000)
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			return port
		}
	}
}

// Run starts all replicas of the program with the rights of its service account, and waits until they are ready.
func (p *Plane) Run(flags ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = nil
	for i := range replicas {
		running, err := p.launch(p.ports[i], p.metrics[i], p.probes[i], flags...)
		if running != nil {
			p.running = append(p.running, running)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// KillOne kills a replica, and Restart starts it again.
func (p *Plane) KillOne(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.running[i].Process.Kill()
	_ = p.running[i].Wait()
}

func (*Plane) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Restart starts a replica again, and waits until it is ready.
func (p *Plane) Restart(i int, flags ...string) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[i], err = p.launch(p.ports[i], p.metrics[i], p.probes[i], flags...)
	return err
}

// launch starts a replica of the program and waits until it is ready.
func (p *Plane) launch(port int, metrics, probes string, flags ...string) (*exec.Cmd, error) {
	day := int64(24 * 60 * 60)
	token, err := p.Clients.CoreV1().ServiceAccounts(system).CreateToken(context.Background(), "podrank-webhook",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: test,
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}], users: [{name: test, user: {token: %q}}],
contexts: [{name: test, context: {cluster: test, user: test}}]}`, p.Config.Host, p.Config.CAFile, token.Status.Token)
	dir := filepath.Dir(p.Dir)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, "webhook.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	arguments := append([]string{"--kubeconfig", kubeconfig, "--namespace", system, "--bind-address", fmt.Sprint("127.0.0.1:", port),
		"--cert-dir", dir, "--rotate-certificates=false", "--metrics-bind-address", metrics,
		"--health-probe-bind-address", probes, "--foreign-costs", "Follow", "--foreign-costs", "Override",
		// The load of the machine should not decide the result of a scale-down. TestMoving has the default.
		"--deadline", "2s"}, flags...)
	running := exec.Command(p.program, arguments...)
	running.Stdout, running.Stderr = log, log
	if err := running.Start(); err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, 60*time.Second, true,
		func(context.Context) (bool, error) {
			response, err := http.Get("http://" + probes + "/readyz")
			if err != nil {
				return false, nil
			}
			response.Body.Close()
			return response.StatusCode == http.StatusOK, nil
		})
	if err != nil {
		said, _ := os.ReadFile(log.Name()) // only for the message
		err = fmt.Errorf("the program is not ready: %w; it says: %s", err, said[max(0, len(said)-2_000):])
	}
	return running, err
}

// Stop asks the program to end, and returns how it did.
func (p *Plane) Stop() error { return p.end(syscall.SIGTERM) }

// Kill kills the program.
func (p *Plane) Kill() { _ = p.end(syscall.SIGKILL) }

func (p *Plane) end(signal os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, running := range p.running {
		_ = running.Process.Signal(signal)
	}
	for _, running := range p.running {
		errs = append(errs, running.Wait())
	}
	p.running = nil
	return errors.Join(errs...)
}

// register has the API server send requests to the proxy, and to no Service, since there is no network of pods. Anyone who waits until it asks about a namespace
// waits for that, too: both are in the same object.
func (p *Plane) register() error {
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := p.Get(context.Background(), client.ObjectKey{Name: app.Configuration}, &configuration); err != nil {
		return err
	}
	address := p.Proxy.URL + admit.Path
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &address, CABundle: p.ca}
	}
	return p.Update(context.Background(), &configuration)
}

func (p *Plane) log() string {
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(p.Dir), "webhook.log"))
	return string(text[max(0, len(text)-8000):])
}

// Proxy stands between the API server and the program, and keeps what was asked and answered.
type Proxy struct {
	URL string
	mu  sync.Mutex
	all []Call
}

// Call is a request that was answered.
type Call struct {
	Review   admissionv1.AdmissionReview
	Raw      []byte
	Response admissionv1.AdmissionReview
	At       time.Time
	Took     time.Duration
}

func newProxy(certificate tls.Certificate, ports [replicas]int) (*Proxy, error) {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "https://" + listener.Addr().String()}
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: "127.0.0.1"})
	forward.Transport = &turns{next: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 64}, ports: ports}
	forward.ErrorLog = nil
	forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := Call{At: time.Now()}
		call.Raw, _ = io.ReadAll(r.Body)
		_ = json.Unmarshal(call.Raw, &call.Review)
		r.Body = io.NopCloser(bytes.NewReader(call.Raw))
		answer := &bytes.Buffer{}
		forward.ServeHTTP(&tee{w, answer}, r)
		call.Took = time.Since(call.At)
		_ = json.Unmarshal(answer.Bytes(), &call.Response)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all = append(p.all, call)
	})
	go func() { _ = http.Serve(listener, handler) }()
	return p, nil
}

// turns sends requests to the replicas in turn, and to the next one if one does not listen, as a Service without that endpoint does.
type turns struct {
	next  http.RoundTripper
	ports [replicas]int
	asked atomic.Int64
}

func (t *turns) RoundTrip(request *http.Request) (response *http.Response, err error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	turn := int(t.asked.Add(1))
	for i := range replicas {
		request.URL.Host = fmt.Sprintf("127.0.0.1:%d", t.ports[(turn+i)%replicas])
		request.Body = io.NopCloser(bytes.NewReader(body))
		if response, err = t.next.RoundTrip(request); !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
	}
	return response, err
}

type tee struct {
	http.ResponseWriter
	copy *bytes.Buffer
}

func (t *tee) Write(text []byte) (int, error) {
	t.copy.Write(text)
	return t.ResponseWriter.Write(text)
}

// trial is the ReplicaSet by which tests find out whether the API server asks.
const trial = "trial"

// Calls are the requests about a namespace, but for those about the trial.
func (p *Proxy) Calls(namespace string) []Call {
	return p.calls(namespace, func(name string) bool { return name != trial })
}

// tried is how many requests there were about the trial of a namespace.
func (p *Proxy) tried(namespace string) int {
	return len(p.calls(namespace, func(name string) bool { return name == trial }))
}

func (p *Proxy) calls(namespace string, is func(name string) bool) (calls []Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, call := range p.all {
		if r := call.Review.Request; r != nil && r.Namespace == namespace && is(r.Name) {
			calls = append(calls, call)
		}
	}
	return calls
}

// mount writes the Secret's certificates into a directory, as kubelet mounts them.
func (p *Plane) mount(dir string) {
	var secret corev1.Secret
	if err := p.Get(context.Background(), client.ObjectKey{Namespace: system, Name: app.Secret}, &secret); err != nil {
		return
	}
	// The certificate is written last: kubelet mounts both at the same time.
	for _, name := range []string{"tls.key", "tls.crt"} {
		if value, ok := secret.Data[name]; ok {
			_ = os.WriteFile(filepath.Join(dir, name), value, 0o600)
		}
	}
}

// trusts reports whether the program's certificate is signed by this authority, for its Service.
func (p *Plane) trusts(authority []byte) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return fmt.Errorf("no certificate in %q", authority)
	}
	address := fmt.Sprintf("127.0.0.1:%d", p.port)
	connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: app.Service + "." + system + ".svc"})
	if err != nil {
		return err
	}
	return connection.Close()
}
