//go:build controlplane

package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/app"
	"github.com/podrank/podrank/webhook/internal/cleanup"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// asItself are clients with the account of the program.
func (w *World) asItself() *kubernetes.Clientset {
	w.Helper()
	config := rest.CopyConfig(w.Config)
	config.Impersonate.UserName = "system:serviceaccount:" + system + ":podrank-webhook"
	config.Impersonate.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + system, "system:authenticated"}
	clients, err := kubernetes.NewForConfig(config)
	w.must(err)
	return clients
}

// denied says so if the API server allowed what it should deny for the sake of the program's account.
func denied(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || !(apierrors.IsInvalid(err) || apierrors.IsForbidden(err)) || !strings.Contains(err.Error(), "podrank-webhook") {
		t.Errorf("%s: %v", what, err)
	}
}

// The account of the program may write three annotations of pods and nothing else, although it may patch pods.
func TestAccountPatches(t *testing.T) {
	w, set := web(t, 2)
	pods := w.asItself().CoreV1().Pods(w.Namespace)
	name := w.Pods()[0].Name
	patch := func(text string) error {
		_, err := pods.Patch(w.ctx, name, types.MergePatchType, []byte(text), metav1.PatchOptions{})
		return err
	}
	w.must(patch(`{"metadata":{"annotations":{"example.com/theirs":null}}}`))
	w.must(w.Kubectl("annotate", "pod", name, "example.com/theirs=a"))
	for what, text := range map[string]string{
		"an image":            `{"spec":{"containers":[{"name":"main","image":"evil"}]}}`,
		"a finalizer":         `{"metadata":{"finalizers":["example.com/stay"]}}`,
		"a label":             `{"metadata":{"labels":{"app":"other"}}}`,
		"no label":            `{"metadata":{"labels":null}}`,
		"an owner":            fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":%q}]}}`, set.GetUID()),
		"no owner":            `{"metadata":{"ownerReferences":null}}`,
		"another annotation":  `{"metadata":{"annotations":{"example.com/ours":"b"}}}`,
		"theirs":              `{"metadata":{"annotations":{"example.com/theirs":"b"}}}`,
		"no annotation":       `{"metadata":{"annotations":{"example.com/theirs":null}}}`,
		"a deadline":          `{"spec":{"activeDeadlineSeconds":1}}`,
		"a cost and an image": `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1"}},"spec":{"containers":[{"name":"main","image":"evil"}]}}`,
	} {
		denied(t, what, patch(text))
	}
	w.must(patch(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1","podrank.dev/steered":"x","podrank.dev/previous-cost":"x"}}}`))
	w.must(patch(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":null,"podrank.dev/steered":null,"podrank.dev/previous-cost":null}}}`))
}

// The account of the program makes and deletes no pods but barrier pods.
func TestAccountBarrierPods(t *testing.T) {
	w := NewWorld(t, 1)
	var barriers corev1.ReplicationController
	w.must(w.Get(w.ctx, client.ObjectKey{Namespace: system, Name: "podrank-barrier"}, &barriers))
	pods := w.asItself().CoreV1().Pods(system)
	create := func(change func(*corev1.Pod)) error {
		pod := &corev1.Pod{ObjectMeta: *barriers.Spec.Template.ObjectMeta.DeepCopy(), Spec: *barriers.Spec.Template.Spec.DeepCopy()}
		pod.Name = "trial"
		change(pod)
		_, err := pods.Create(w.ctx, pod, metav1.CreateOptions{})
		return err
	}
	for what, change := range map[string]func(*corev1.Pod){
		"ungated":      func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil },
		"with a token": func(pod *corev1.Pod) { pod.Spec.AutomountServiceAccountToken = nil },
		"with a volume": func(pod *corev1.Pod) {
			secret := &corev1.SecretVolumeSource{SecretName: "podrank-webhook-certificates"}
			pod.Spec.Volumes = []corev1.Volume{{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: secret}}}
		},
		"no barrier pod": func(pod *corev1.Pod) { pod.Labels = nil },
		"finalized":      func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/stay"} },
		"an owner's": func(pod *corev1.Pod) {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n"}}
		},
		"on a node": func(pod *corev1.Pod) { pod.Spec.SchedulingGates, pod.Spec.NodeName = nil, w.Nodes[0].Name },
	} {
		denied(t, "a pod that is "+what, create(change))
	}
	w.must(create(func(*corev1.Pod) {}))
	w.must(pods.Delete(w.ctx, "trial", metav1.DeleteOptions{}))
	resident := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "resident"}, Spec: *barriers.Spec.Template.Spec.DeepCopy()}
	w.must(w.Create(w.ctx, resident))
	denied(t, "deleting a pod that is not a barrier pod", pods.Delete(w.ctx, "resident", metav1.DeleteOptions{}))
	w.must(w.Delete(w.ctx, resident))
}

// The account of the program reads no Secret but its own.
func TestAccountSecrets(t *testing.T) {
	w := NewWorld(t, 1)
	secrets := w.asItself().CoreV1().Secrets(system)
	if _, err := secrets.List(w.ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("all Secrets: %v", err)
	}
	_, err := secrets.List(w.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + app.Secret})
	w.must(err)
}

// Of its configuration, the account of the program may write the authorities alone.
func TestAccountConfiguration(t *testing.T) {
	w := NewWorld(t, 1)
	type configuration = admissionregistrationv1.ValidatingWebhookConfiguration
	configure := func(change func(*configuration)) error {
		configurations := w.Clients.AdmissionregistrationV1().ValidatingWebhookConfigurations()
		now, err := configurations.Get(w.ctx, app.Configuration, metav1.GetOptions{})
		w.must(err)
		change(now)
		_, err = w.asItself().AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(w.ctx, now, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	url, fail, none := "https://127.0.0.1:1/", admissionregistrationv1.Fail, int32(30)
	evil := &admissionregistrationv1.ServiceReference{Namespace: system, Name: "evil"}
	for what, change := range map[string]func(*configuration){
		"another place": func(c *configuration) {
			c.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
		},
		"another service": func(c *configuration) {
			c.Webhooks[1].ClientConfig = admissionregistrationv1.WebhookClientConfig{Service: evil}
		},
		"all groups":     func(c *configuration) { c.Webhooks[0].Rules[0].APIGroups = []string{"*"} },
		"all resources":  func(c *configuration) { c.Webhooks[0].Rules[0].Resources = []string{"*/*"} },
		"a refusal":      func(c *configuration) { c.Webhooks[0].FailurePolicy = &fail },
		"a long wait":    func(c *configuration) { c.Webhooks[0].TimeoutSeconds = &none },
		"no conditions":  func(c *configuration) { c.Webhooks[0].MatchConditions = nil },
		"all namespaces": func(c *configuration) { c.Webhooks[0].NamespaceSelector = nil },
		"other namespaces": func(c *configuration) {
			c.Webhooks[0].NamespaceSelector.MatchLabels["podrank.dev/steering"] = "disabled"
		},
		"one more": func(c *configuration) {
			more := c.Webhooks[0].DeepCopy()
			more.Name = "more.podrank.dev"
			c.Webhooks = append(c.Webhooks, *more)
		},
		"one fewer": func(c *configuration) { c.Webhooks = c.Webhooks[1:] },
	} {
		denied(t, "a configuration with "+what, configure(change))
	}
	w.must(configure(func(c *configuration) {
		c.Webhooks[0].ClientConfig.CABundle = c.Webhooks[1].ClientConfig.CABundle
	}))
}

// forge sends a request to lower the count to 2 without credentials, as anyone can who reaches the port.
func (w *World) forge(as ...tls.Certificate) error {
	w.Helper()
	before, two := &appsv1.ReplicaSet{}, int32(2)
	w.must(w.Get(w.ctx, client.ObjectKey{Namespace: w.Namespace, Name: "web"}, before))
	after := before.DeepCopy()
	after.Spec.Replicas = &two
	text, err := json.Marshal(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": map[string]any{
		"uid": "6d3c2e1f-0000-4000-8000-000000000001", "operation": "UPDATE", "namespace": w.Namespace, "name": "web",
		"resource":  map[string]any{"group": "apps", "version": "v1", "resource": "replicasets"},
		"oldObject": before, "object": after,
	}})
	w.must(err)
	to := stranger("127.0.0.1", as...)
	defer to.CloseIdleConnections()
	_, err = w.post(to, text)
	return err
}

// stranger is a client of this address, which anyone may be.
func stranger(address string, as ...tls.Certificate) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: as}, DialContext: dialer.DialContext,
	}}
}

// post sends a review to the program itself, and returns the status of the answer.
func (w *World) post(to *http.Client, review []byte) (status int, err error) {
	response, err := to.Post(fmt.Sprintf("https://127.0.0.1:%d%s", w.port, admit.Path), "application/json", bytes.NewReader(review))
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// A forged request about a set as it is has costs written. They are removed once the count should have fallen, and soon.
func TestForged(t *testing.T) {
	w, _ := web(t, 9)
	began := time.Now()
	w.Await("costs", 5*time.Second, func() bool {
		// One is stale if the status has changed since the set was read.
		w.must(w.forge())
		return w.CostChanges() > 0
	})
	w.AwaitClean()
	if took := time.Since(began); took < w.patience() || took > 20*time.Second {
		t.Errorf("clean after %v", took)
	}
	if len(w.Deleted()) != 0 {
		t.Errorf("%d pods were deleted", len(w.Deleted()))
	}
}

// selfSigned is a certificate of a client of this name, and a file with it.
func (w *World) selfSigned(name string) (as tls.Certificate, file string) {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	w.must(err)
	file = w.TempDir() + "/ca.crt"
	w.must(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600))
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}, file
}

// With --client-ca, only a client of the right name is heard.
func TestClientName(t *testing.T) {
	w, _ := web(t, 9)
	as, file := w.selfSigned("api-server")
	t.Cleanup(func() {
		_ = w.Stop()
		_ = w.Run()
	})
	w.restart("--client-ca", file, "--client-name", "api-server")
	if err := w.forge(); err == nil || w.CostChanges() != 0 {
		t.Errorf("heard without a certificate: %v, %d changes of costs", err, w.CostChanges())
	}
	w.must(w.forge(as))
	w.restart("--client-ca", file, "--client-name", "another")
	if err := w.forge(as); err == nil {
		t.Error("heard with a certificate of another name")
	}
}

// limitMemory starts the program again, with the limit of memory of the manifests.
func (w *World) limitMemory(t *testing.T) {
	w.Helper()
	t.Setenv("GOMEMLIMIT", "690MiB")
	w.restart()
}

// restart ends the program, and starts it with what the environment says now.
func (w *World) restart(flags ...string) {
	w.Helper()
	w.must(w.Stop())
	w.must(w.Run(flags...))
}

// peak is the most memory that a replica of the program has had since its start, in MiB.
func (w *World) peak() (mebibytes int) {
	w.Helper()
	for _, running := range w.running {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", running.Process.Pid))
		w.must(err)
		_, rest, _ := strings.Cut(string(text), "VmHWM:")
		var kibibytes int
		_, err = fmt.Sscanf(rest, "%d kB", &kibibytes)
		w.must(err)
		mebibytes = max(mebibytes, kibibytes>>10)
	}
	return mebibytes
}

// A user has 50 sets that select the same large pods, and scales all of them down simultaneously. The program reads
// these pods without keeping many of them in memory, and still steers a set of another namespace.
func TestLargePods(t *testing.T) {
	for what, test := range map[string]struct {
		pods   int32
		change func(*corev1.PodTemplateSpec)
	}{
		"annotations": {200, func(pods *corev1.PodTemplateSpec) {
			pods.Annotations = map[string]string{"example.com/large": strings.Repeat("x", 250<<10)}
		}},
		// Each takes few bytes in an answer, and many in memory.
		"volumes": {60, func(pods *corev1.PodTemplateSpec) {
			for i := range 5_000 {
				pods.Spec.Volumes = append(pods.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i)})
			}
		}},
	} {
		t.Run(what, func(t *testing.T) {
			hostile, victim := NewWorld(t, 2), NewWorld(t, 4)
			hostile.limitMemory(t)
			hostile.Policy("spot", SpotFirst)
			victim.Policy("spot", SpotFirst)
			web := replicaSet(victim.Namespace, "web", 8)
			victim.must(victim.Create(victim.ctx, web))
			large := replicaSet(hostile.Namespace, "large", test.pods, func(pods *corev1.PodTemplateSpec) {
				test.change(pods)
				pods.Labels["unassigned"] = "yes"
			})
			hostile.must(hostile.Create(hostile.ctx, large))
			hostile.Await("large pods", time.Minute, func() bool { return len(hostile.Pods()) == int(test.pods) })
			for _, pod := range hostile.Pods() {
				// Who manages what would take as much again, and such pods are not steered.
				hostile.must(hostile.Patch(hostile.ctx, pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`))))
			}
			var sets []*appsv1.ReplicaSet
			for i := range 50 {
				sets = append(sets, replicaSet(hostile.Namespace, fmt.Sprint("small-", i), 2, func(pods *corev1.PodTemplateSpec) {
					pods.Labels["app"] = "large"
				}))
				sets[i].Spec.Selector = large.Spec.Selector
				hostile.must(hostile.Create(hostile.ctx, sets[i]))
			}
			hostile.Await("small pods", time.Minute, func() bool { return len(hostile.Pods()) == int(test.pods)+100 })
			victim.AwaitReady(8)
			before := hostile.peak()
			var group sync.WaitGroup
			for _, set := range sets {
				group.Go(func() { hostile.must(hostile.Scale(set, 1)) })
			}
			time.Sleep(300 * time.Millisecond)
			began := time.Now()
			victim.must(victim.Scale(web, 6))
			took := time.Since(began)
			group.Wait()
			last, most := victim.Last("spot", 1), hostile.peak()
			t.Logf("at most %d MiB before, and %d MiB after; the other namespace's request took %v: %s", before, most, took, last.Result)
			// Of 768 MiB. Without the bounds, it takes nearly all. Large pods alone take 321 on a busy machine, before the scale-downs.
			if most > 384 {
				t.Errorf("at most %d MiB", most)
			}
			// The API server, too, has much to do.
			if !slices.Contains([]string{string(steer.Steered), string(steer.Unconfirmed)}, last.Result) {
				t.Errorf("%+v", last)
			}
		})
	}
}

// claimed says of a pod that the program manages this annotation of it.
func claimed(pod *corev1.Pod, steered string) *corev1.Pod {
	pod.Annotations = map[string]string{cost.Annotation: steered}
	pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: cost.Manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: fmt.Appendf(nil, `{"f:metadata":{"f:annotations":{"f:%s":{}}}}`, cost.Annotation)},
	})
	return pod
}

// forgeSteered patches an annotation into a pod.
func (w *World) forgeSteered(by *kubernetes.Clientset, name, steered, manager string, subresources ...string) error {
	text := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, cost.Annotation, steered)
	_, err := by.CoreV1().Pods(w.Namespace).Patch(w.ctx, name, types.MergePatchType, text, metav1.PatchOptions{FieldManager: manager}, subresources...)
	return err
}

// Nobody but the program makes an annotation that counts as one of its own, whatever they call themselves: it may be refused, and if it is not, it does not
// count.
func TestForgedAnnotations(t *testing.T) {
	w, set := web(t, 5)
	steered, there := steeredOf(set, 3), w.Pods()
	pods := w.Clients.CoreV1().Pods(w.Namespace)
	asProgram := rest.CopyConfig(w.Config)
	asProgram.UserAgent = cost.Manager + "/1"
	agent, err := kubernetes.NewForConfig(asProgram)
	w.must(err)
	update := func(name string) error {
		now, err := pods.Get(w.ctx, name, metav1.GetOptions{})
		w.must(err)
		_, err = pods.Update(w.ctx, claimed(now, steered), metav1.UpdateOptions{})
		return err
	}
	for _, c := range []struct {
		what, name string
		forge      func(name string) error
	}{
		{"a patch", there[0].Name, func(name string) error { return w.forgeSteered(w.Clients, name, steered, cost.Manager) }},
		{"a patch of the status", there[1].Name, func(name string) error { return w.forgeSteered(w.Clients, name, steered, cost.Manager, "status") }},
		{"an agent of its name", there[2].Name, func(name string) error { return w.forgeSteered(agent, name, steered, "") }},
		{"an apply", there[3].Name, func(name string) error {
			applied := applycorev1.Pod(name, w.Namespace).WithAnnotations(map[string]string{cost.Annotation: steered})
			_, err := pods.Apply(w.ctx, applied, metav1.ApplyOptions{FieldManager: cost.Manager, Force: true})
			return err
		}},
		{"an update", there[4].Name, update},
		// What an update changes is managed by who sends it. So an earlier one sets the annotation under another name, which is allowed.
		{"a claim", there[4].Name, update},
		{"a new pod", "new", func(name string) error {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{cost.Annotation: steered}}, Spec: template("forged").Spec}
			_, err := pods.Create(w.ctx, pod, metav1.CreateOptions{FieldManager: cost.Manager})
			return err
		}},
		{"a new pod that claims it", "claims", func(name string) error {
			pod := claimed(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template("forged").Spec}, steered)
			_, err := pods.Create(w.ctx, pod, metav1.CreateOptions{})
			return err
		}},
	} {
		if err := c.forge(c.name); err != nil && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "only podrank-webhook may write its annotation")) {
			t.Errorf("%s: %v", c.what, err)
		}
		pod, err := pods.Get(w.ctx, c.name, metav1.GetOptions{})
		w.must(client.IgnoreNotFound(err))
		if _, ok := cost.SteeredOf(pod); ok {
			t.Errorf("%s: it has an annotation of the program", c.what)
		}
	}
	// One of the two new ones is refused, and the other one has an annotation under another name. The watch may be late.
	w.Await("one more pod", 10*time.Second, func() bool { return len(w.Pods()) == len(there)+1 })
	w.must(pods.Delete(w.ctx, "claims", metav1.DeleteOptions{}))
}

// The program's annotation does not change when other programs write to the pod. They may also remove it.
func TestAnnotationOfOtherWriters(t *testing.T) {
	w, set := web(t, 2)
	pod := w.Pods()[0]
	// Of a count that is still to come, so that the clean-up leaves it for a while.
	w.apply(pod, cost.Manager, map[string]string{cost.Annotation: steeredOf(set, 1)})
	w.must(w.Kubectl("label", "pod", pod.Name, "a=b"))
	if err := w.forgeSteered(w.Clients, pod.Name, steeredOf(set, 2), cost.Manager); err == nil {
		t.Error("the count of an annotation was changed")
	}
	now, err := w.Clients.CoreV1().Pods(w.Namespace).Get(w.ctx, pod.Name, metav1.GetOptions{})
	w.must(err)
	if got, ok := cost.SteeredOf(now); !ok || got.Count != 1 {
		t.Errorf("%+v, so this shows nothing", now.Annotations)
	}
	w.must(w.Kubectl("annotate", "pod", pod.Name, cost.Annotation+"-"))
}

// patience is how long a count may take to fall.
func (w *World) patience() time.Duration { return 2*time.Second + cleanup.Grace }

// A Deployment is scaled in the middle of a rollout. Each of its sets loses its share, and all of these falls are steered, although
// the policy leaves rollouts alone.
func TestScaledInRollout(t *testing.T) {
	w, _ := NewWorldOf(t, 4, SpotFirst, webDeployment, 12)
	w.must(w.Kubectl("set", "image", "deployment/web", "main=new"))
	w.Await("new pods", 30*time.Second, func() bool { return w.areNew() >= 4 })
	w.must(w.Kubectl("rollout", "pause", "deployment/web"))
	w.Await("a rest", 30*time.Second, func() bool {
		count := len(w.Pods())
		time.Sleep(time.Second)
		return count == len(w.Pods())
	})
	w.AwaitReady(len(w.Pods()))
	before, deleted := w.Pods(), len(w.Deleted())
	newPods := w.areNew()
	w.must(w.Kubectl("scale", "deployment/web", "--replicas=6"))
	// The pods that the rollout made beyond the replica count are deleted in proportion, too.
	w.Await("a fall", 30*time.Second, func() bool { return len(w.Deleted())-deleted >= len(before)-9 })
	w.Await("compared", 30*time.Second, func() bool { return len(w.Status("spot").Workloads) >= 2 && w.isOver() })
	sets := map[types.UID]bool{}
	for _, down := range w.History("spot") {
		sets[down.UID] = true
		// The controller may be slow.
		isRight := slices.Contains([]string{string(steer.Steered), string(steer.Unconfirmed)}, down.Result)
		if err := w.isFalse(down); err != nil || !isRight || *down.Deleted == 0 || *down.Missed != 0 {
			t.Errorf("%+v, %d deleted, %d missed: %v", down, *down.Deleted, *down.Missed, err)
		}
	}
	if newPods == 0 || newPods == len(before) || len(sets) != 2 {
		t.Errorf("%d of %d pods are new, and %d sets were steered", newPods, len(before), len(sets))
	}
}

// areNew counts the pods of the new template.
func (w *World) areNew() int {
	return count(w.Pods(), func(pod *corev1.Pod) bool { return pod.Spec.Containers[0].Image == "new" })
}

// Only falls in namespaces with the label are asked about: no fall to 0, no rise, and no change that leaves the count. A dry run has no effects.
// Without a policy, nothing is decided.
func TestAsked(t *testing.T) {
	w := NewWorld(t, 4)
	set := replicaSet(w.Namespace, "web", 4)
	w.must(w.Create(w.ctx, set))
	w.AwaitReady(4)
	w.must(w.Scale(set, 2))
	w.AwaitReady(2)
	for _, call := range w.Proxy.Calls(w.Namespace) {
		if !call.Response.Response.Allowed || w.CostChanges() != 0 {
			t.Errorf("without a policy: %+v, %d costs", call.Response.Response, w.CostChanges())
		}
	}
	w.Policy("spot", SpotFirst)
	before := len(w.Proxy.Calls(w.Namespace))
	w.must(w.Scale(set, 3))
	w.AwaitReady(3)
	w.must(w.Kubectl("annotate", "replicaset", "web", "a=b"))
	if calls := w.Proxy.Calls(w.Namespace)[before:]; len(calls) != 0 {
		t.Errorf("%d requests", len(calls))
	}
	w.must(w.Scale(set, 2, client.DryRunAll))
	time.Sleep(time.Second)
	if w.CostChanges() != 0 || len(w.Pods()) != 3 || len(w.Status("spot").Workloads) != 0 {
		t.Errorf("a dry run had effects: %+v", w.Status("spot"))
	}
	w.must(w.Scale(set, 0))
	w.AwaitReady(0)
	if calls := w.Proxy.Calls(w.Namespace)[before:]; len(calls) != 1 || !calls[0].Response.Response.Allowed {
		t.Errorf("%d requests, and not that of the dry run alone", len(calls))
	}
}

// With a policy that prefers empty nodes, of two nodes with equally many pods, the cordoned one becomes empty, or the
// one without pods of other namespaces.
func TestEmptyNodes(t *testing.T) {
	for what, change := range map[string]func(w *World, emptied, kept string){
		"the other is kept": func(w *World, _, kept string) {
			foreign := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: NewWorld(w, 0).Namespace, Name: "foreign"}, Spec: template("foreign").Spec}
			foreign.Spec.NodeName = kept
			w.must(w.Create(w.ctx, foreign))
		},
		"it is cordoned": func(w *World, emptied, _ string) { w.must(w.Kubectl("cordon", emptied)) },
	} {
		t.Run(what, func(t *testing.T) {
			w, set := NewWorldOf(t, 2, v1alpha1.ScaleDownPolicySpec{EmptyNodes: v1alpha1.EmptyNodesPrefer}, webSet, 4)
			// By their names, the other one would be deleted.
			emptied := w.Nodes[1].Name
			change(w, emptied, w.Nodes[0].Name)
			w.restart() // it lists all objects before it is ready
			w.must(w.Scale(set, 2))
			for _, pod := range w.AwaitDeleted(2) {
				if pod.Spec.NodeName != emptied {
					t.Errorf("%s on %s went, not on %s", pod.Name, pod.Spec.NodeName, emptied)
				}
			}
			if last := w.Last("spot", 1); last.Result != string(steer.Steered) {
				t.Errorf("%+v", last)
			}
		})
	}
}

// With a policy that only observes, Kubernetes deletes the predicted pods, and the program writes nothing.
func TestObserve(t *testing.T) {
	w, set := NewWorldOf(t, 4, v1alpha1.ScaleDownPolicySpec{Mode: v1alpha1.Observe}, webSet, 9)
	w.Unready()
	w.Await("observed by its controller", 10*time.Second, func() bool {
		w.must(w.Get(w.ctx, client.ObjectKeyFromObject(set), set))
		return set.(*appsv1.ReplicaSet).Status.ReadyReplicas == 8
	})
	w.must(w.Scale(set, 5))
	last := w.Last("spot", 1)
	if last.Result != string(steer.Observed) || last.Selected != 4 || *last.Deleted != 4 || *last.Missed != 0 || w.CostChanges() != 0 {
		t.Errorf("%+v, %d changes of costs", last, w.CostChanges())
	}
	if !w.hasEvent(string(steer.Observed)) {
		t.Error("no event")
	}
}

// Users who send requests of the largest size, as fast as possible and with any content, cannot make the program exceed
// its limit of memory.
func TestFlood(t *testing.T) {
	for what, body := range map[string]string{
		"a text": `"request":{"uid":"6d3c2e1f-0000-4000-8000-000000000001","object":{"a":"` + strings.Repeat("x", 4<<20-300) + `"}}`,
		// Decoded as Kubernetes' own type, each 0 takes 48 bytes.
		"a list": `"response":{"status":{"details":{"causes":[` + strings.Repeat("0,", 2<<20-300) + `0]}}}`,
	} {
		t.Run(what, func(t *testing.T) {
			w := NewWorld(t, 1)
			w.limitMemory(t)
			review := []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",` + body + `}`)
			until := time.Now().Add(15 * time.Second)
			var group sync.WaitGroup
			var answered, refused atomic.Int64
			for i := range 90 {
				to := stranger(fmt.Sprint("127.0.0.", 2+i%5))
				group.Go(func() {
					defer to.CloseIdleConnections()
					for time.Now().Before(until) {
						if status, err := w.post(to, review); status == http.StatusServiceUnavailable {
							refused.Add(1)
						} else if err == nil {
							answered.Add(1)
						}
					}
				})
			}
			group.Wait()
			most := w.peak()
			t.Logf("at most %d MiB, %d answered, %d refused", most, answered.Load(), refused.Load())
			// Half of the limit, since garbage is collected late if the machine is busy.
			if most > 384 || answered.Load() == 0 {
				t.Errorf("at most %d MiB", most)
			}
		})
	}
}
