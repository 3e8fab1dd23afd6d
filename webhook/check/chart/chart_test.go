//go:build chart

// Package chart renders the chart with several sets of values, and compares the objects with what values.yaml promises. Only Helm knows how to render it:
//
//	go test -tags chart ./check/chart
package chart

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/podrank/podrank/webhook/internal/admit"
)

// always is what every set of values installs, and beside are the sets that add to it or remove from it.
var (
	always = []string{
		"ClusterRole podrank-policy-editor", "ClusterRole podrank-policy-viewer", "ClusterRole podrank-webhook", "ClusterRoleBinding podrank-webhook",
		"CustomResourceDefinition scaledownpolicies.podrank.dev", "Deployment podrank-webhook", "FlowSchema podrank-webhook",
		"ReplicationController podrank-barrier", "Role podrank-webhook", "Role podrank-webhook", "RoleBinding podrank-webhook", "RoleBinding podrank-webhook",
		"Service podrank-webhook", "ServiceAccount podrank-webhook", "ValidatingWebhookConfiguration podrank-webhook",
	}
	defaults = []string{
		"NetworkPolicy podrank-webhook", "PodDisruptionBudget podrank-webhook", "Secret podrank-webhook-certificates",
		"ValidatingAdmissionPolicy podrank-webhook", "ValidatingAdmissionPolicy podrank-webhook-configuration",
		"ValidatingAdmissionPolicy podrank-webhook-annotations", "ValidatingAdmissionPolicy podrank-webhook-scale",
		"ValidatingAdmissionPolicyBinding podrank-webhook", "ValidatingAdmissionPolicyBinding podrank-webhook-configuration",
		"ValidatingAdmissionPolicyBinding podrank-webhook-annotations", "ValidatingAdmissionPolicyBinding podrank-webhook-scale",
	}
	optional = []string{
		"Certificate podrank-webhook", "Certificate podrank-webhook-ca", "ClusterRole podrank-webhook-idle", "ClusterRoleBinding podrank-webhook-idle",
		"ConfigMap podrank-webhook-dashboard", "Issuer podrank-webhook", "Issuer podrank-webhook-self-signed", "Namespace podrank-system",
		"PrometheusRule podrank-webhook", "ServiceMonitor podrank-webhook",
	}
)

// objects are those of one rendering.
type objects []runtime.Object

// helm renders the chart, and returns what Helm says if it fails.
func helm(values string, flags ...string) (string, error) {
	file, err := os.CreateTemp("", "values-*.yaml")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(values); err != nil {
		return "", err
	}
	command := exec.Command("../render", append([]string{"--values", file.Name()}, flags...)...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, said.String())
	}
	return string(out), nil
}

// render decodes each object into its type, which must have all of its fields.
func render(t *testing.T, values string, flags ...string) (all objects) {
	t.Helper()
	text, err := helm(values, flags...)
	if err != nil {
		t.Fatal(err)
	}
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	strict := serializer.NewCodecFactory(types, serializer.EnableStrict).UniversalDeserializer()
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		document, err := documents.Read()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var foreign unstructured.Unstructured
		if err := yaml.UnmarshalStrict(document, &foreign.Object); err != nil {
			t.Fatalf("%v: %s", err, document)
		}
		switch kind := foreign.GroupVersionKind(); {
		case foreign.Object == nil:
		case slices.Contains([]string{"cert-manager.io", "monitoring.coreos.com"}, kind.Group):
			all = append(all, &foreign)
		default:
			object, _, err := strict.Decode(document, nil, nil)
			if err != nil {
				t.Fatalf("%v: %s", err, document)
			}
			all = append(all, object)
		}
	}
}

// names are the kinds and names of objects, in order.
func (o objects) names(t *testing.T) (names []string) {
	t.Helper()
	for _, object := range o {
		names = append(names, object.GetObjectKind().GroupVersionKind().Kind+" "+object.(metav1.Object).GetName())
	}
	slices.Sort(names)
	return names
}

// get returns the object of a type and name, in the namespace if there are several.
func get[T metav1.Object](t *testing.T, o objects, name string, namespaces ...string) (found T) {
	t.Helper()
	for _, object := range o {
		if typed, ok := object.(T); ok && typed.GetName() == name && (namespaces == nil || namespaces[0] == typed.GetNamespace()) {
			return typed
		}
	}
	t.Fatalf("there is no %T %s", found, name)
	return found
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// Each set of values installs what it says, and removes nothing else.
func TestObjects(t *testing.T) {
	admission := defaults[3:]
	for values, change := range map[string]struct{ more, fewer []string }{
		"{}":                                    {},
		"certManager: true":                     {more: slices.Concat(optional[:2], optional[5:7]), fewer: []string{"Secret podrank-webhook-certificates"}},
		"createNamespace: true":                 {more: []string{"Namespace podrank-system"}},
		"admissionPolicies: false":              {fewer: admission},
		"observeOnly: true":                     {},
		"{idle: {resources: true}}":             {more: optional[2:4]},
		"{idle: {metrics: [a, b]}}":             {more: optional[2:4]},
		"dashboard: {enabled: true}":            {more: []string{"ConfigMap podrank-webhook-dashboard"}},
		"alerts: {enabled: true}":               {more: []string{"PrometheusRule podrank-webhook"}},
		"networkPolicy: {enabled: false}":       {fewer: []string{"NetworkPolicy podrank-webhook"}},
		"podDisruptionBudget: {enabled: false}": {fewer: []string{"PodDisruptionBudget podrank-webhook"}},
		"serviceMonitor: {enabled: true}":       {more: []string{"ServiceMonitor podrank-webhook"}},
	} {
		want := slices.DeleteFunc(slices.Concat(always, defaults, change.more), func(name string) bool { return slices.Contains(change.fewer, name) })
		slices.Sort(want)
		if got := render(t, values).names(t); !slices.Equal(got, want) {
			t.Errorf("%s installs %v, not %v", values, got, want)
		}
	}
}

// webhookOf is the container of podrank-webhook.
func webhookOf(t *testing.T, values string) (*appsv1.Deployment, corev1.Container) {
	t.Helper()
	deployment := get[*appsv1.Deployment](t, render(t, values), "podrank-webhook")
	same(t, "containers", len(deployment.Spec.Template.Spec.Containers), 1)
	return deployment, deployment.Spec.Template.Spec.Containers[0]
}

// Every value of the pod gets where it belongs.
func TestPod(t *testing.T) {
	deployment, container := webhookOf(t, `
replicas: 3
image: {repository: registry.example.com/p, tag: v9, pullPolicy: Always}
imagePullSecrets: [{name: pull}]
resources: {requests: {cpu: 2}, limits: {memory: 2Gi}}
nodeSelector: {a: b}
tolerations: [{key: k, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: f, operator: In, values: [v]}]}]}}}
topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
priorityClassName: high
podAnnotations: {x: "1"}
podLabels: {team: "2"}
extraVolumes: [{name: v, emptyDir: {}}]
extraVolumeMounts: [{name: v, mountPath: /v}]
hostNetwork: true
ports: {requests: 10250, metrics: 10251, probes: 10252}
extraArgs: [--decisions-per-second=20, --deadline=2s]
clientCA: {configMap: authorities, commonName: api}
foreignCosts: [Follow, Override]
`)
	template := deployment.Spec.Template
	spec := template.Spec
	same(t, "replicas", *deployment.Spec.Replicas, int32(3))
	same(t, "image", container.Image, "registry.example.com/p:v9")
	same(t, "policy", container.ImagePullPolicy, corev1.PullAlways)
	same(t, "secrets", spec.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "pull"}})
	same(t, "cpu", container.Resources.Requests.Cpu().String(), "2")
	same(t, "memory", container.Resources.Limits.Memory().String(), "2Gi")
	same(t, "the limit for Go", container.Env[1], corev1.EnvVar{Name: "GOMEMLIMIT", Value: "1843MiB"})
	same(t, "node selector", spec.NodeSelector, map[string]string{"a": "b"})
	same(t, "tolerations", spec.Tolerations, []corev1.Toleration{{Key: "k", Operator: "Exists"}})
	same(t, "affinity", spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Key, "f")
	same(t, "spread", spec.TopologySpreadConstraints, []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule"}})
	same(t, "priority", spec.PriorityClassName, "high")
	same(t, "annotation", template.Annotations["x"], "1")
	same(t, "labels", template.Labels, map[string]string{"app.kubernetes.io/name": "podrank-webhook", "team": "2"})
	same(t, "host network", []any{spec.HostNetwork, spec.DNSPolicy}, []any{true, corev1.DNSClusterFirstWithHostNet})
	var volumes, ports []string
	for _, volume := range spec.Volumes {
		volumes = append(volumes, volume.Name)
	}
	for _, mount := range container.VolumeMounts {
		volumes = append(volumes, mount.MountPath)
	}
	same(t, "volumes", volumes, []string{"certificates", "client-ca", "v", "/certificates", "/client-ca", "/v"})
	same(t, "authorities", spec.Volumes[1].ConfigMap.Name, "authorities")
	for _, port := range container.Ports {
		ports = append(ports, fmt.Sprint(port.Name, port.ContainerPort))
	}
	same(t, "ports", ports, []string{"requests10250", "metrics10251", "probes10252"})
	same(t, "arguments", container.Args, []string{
		"--mode=Steer", "--rotate-certificates=true", "--bind-address=:10250", "--metrics-bind-address=:10251", "--health-probe-bind-address=:10252",
		"--foreign-costs=Follow", "--foreign-costs=Override", "--client-ca=/client-ca/ca.crt", "--client-name=api", "--decisions-per-second=20", "--deadline=2s",
	})
	program, err := os.ReadFile("../../main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range container.Args {
		name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		if !bytes.Contains(program, fmt.Appendf(nil, "%q", name)) {
			t.Errorf("the program has no flag %s", argument)
		}
	}
}

// Without values, the pod is hardened, nothing is overwritten, and nothing is read that policies don't need.
func TestDefaults(t *testing.T) {
	deployment, container := webhookOf(t, "{}")
	same(t, "arguments", container.Args,
		[]string{"--mode=Steer", "--rotate-certificates=true", "--bind-address=:9443", "--metrics-bind-address=:8080", "--health-probe-bind-address=:8081"})
	spec := deployment.Spec.Template.Spec
	if security := container.SecurityContext; !*spec.SecurityContext.RunAsNonRoot || *security.AllowPrivilegeEscalation || !*security.ReadOnlyRootFilesystem ||
		*security.RunAsUser != 65532 || !slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}) || spec.SecurityContext.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("%+v, %+v", spec.SecurityContext, security)
	}
	if container.Resources.Requests.Cpu().IsZero() || container.Resources.Limits.Memory().IsZero() {
		t.Errorf("%+v", container.Resources)
	}
	for values, want := range map[string]string{
		"{}": "ghcr.io/podrank/podrank-webhook:v" + release(t),
		"image: {digest: sha256:" + strings.Repeat("ab", 32) + "}":          "ghcr.io/podrank/podrank-webhook:v" + release(t) + "@sha256:" + strings.Repeat("ab", 32),
		"image: {tag: v9, digest: sha256:" + strings.Repeat("ab", 32) + "}": "ghcr.io/podrank/podrank-webhook:v9",
	} {
		_, container := webhookOf(t, values)
		same(t, values, container.Image, want)
	}
	for values, want := range map[string]string{"mode: Observe": "--mode=Observe", "observeOnly: true": "--mode=Observe", "certManager: true": "--rotate-certificates=false"} {
		if _, container := webhookOf(t, values); !slices.Contains(container.Args, want) {
			t.Errorf("%s: %v", values, container.Args)
		}
	}
	_, container = webhookOf(t, "resources: {limits: {memory: null}}")
	same(t, "without a limit", len(container.Env), 1)
	_, container = webhookOf(t, `
idle: {publishValues: true, prometheus: {address: "https://prometheus:9090", queries: {busy: 'sum by (pod) (a{namespace="$namespace"})'}, secret: s, token: true}}`)
	same(t, "arguments for values", container.Args[5:], []string{"--publish-values", "--prometheus=https://prometheus:9090",
		`--prometheus-query=busy=sum by (pod) (a{namespace="$namespace"})`, "--prometheus-ca=/prometheus/ca.crt", "--prometheus-token=/prometheus/token"})
}

// release is the version of the chart.
func release(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../chart/Chart.yaml")
	var chart struct{ Version string }
	if err == nil {
		err = yaml.Unmarshal(text, &chart)
	}
	if err != nil || chart.Version == "" {
		t.Fatalf("%v: %s", err, text)
	}
	return chart.Version
}

// verbs are those that a role has on a resource.
func verbs(rules []rbacv1.PolicyRule, resource string) (all []string) {
	for _, rule := range rules {
		if slices.Contains(rule.Resources, resource) {
			all = append(all, rule.Verbs...)
		}
	}
	slices.Sort(all)
	return all
}

// The program has exactly the rights that it needs with these values.
func TestRights(t *testing.T) {
	own := func(values string) (cluster, namespace []rbacv1.PolicyRule, all objects) {
		all = render(t, values)
		get[*rbacv1.Role](t, all, "podrank-webhook", "kube-system")
		return get[*rbacv1.ClusterRole](t, all, "podrank-webhook").Rules, get[*rbacv1.Role](t, all, "podrank-webhook", "podrank-system").Rules, all
	}
	cluster, namespace, all := own("{}")
	same(t, "pods", verbs(cluster, "pods"), []string{"get", "list", "patch", "watch"})
	same(t, "barrier pods", verbs(namespace, "pods"), []string{"create", "delete"})
	same(t, "the Secret", verbs(namespace, "secrets"), []string{"list", "update", "watch"})
	same(t, "the configuration", verbs(cluster, "validatingwebhookconfigurations"), []string{"list", "update", "watch"})
	for _, rule := range slices.Concat(cluster, namespace) {
		if slices.Contains(rule.Verbs, "update") && !slices.Contains(rule.Resources, "scaledownpolicies/status") && len(rule.ResourceNames) != 1 {
			t.Errorf("%v of %v, whatever their names", rule.Verbs, rule.Resources)
		}
	}
	editor := get[*rbacv1.ClusterRole](t, all, "podrank-policy-editor")
	same(t, "whose rights", editor.Labels, map[string]string(nil))
	cluster, namespace, all = own("{certManager: true, aggregateToEdit: true}")
	same(t, "beside cert-manager, the Secret", verbs(slices.Concat(cluster, namespace), "secrets"), []string(nil))
	same(t, "beside cert-manager, the configuration", verbs(cluster, "validatingwebhookconfigurations"), []string(nil))
	editor = get[*rbacv1.ClusterRole](t, all, "podrank-policy-editor")
	same(t, "whose rights", slices.Sorted(maps.Keys(editor.Labels)),
		[]string{"rbac.authorization.k8s.io/aggregate-to-admin", "rbac.authorization.k8s.io/aggregate-to-edit"})
	cluster, namespace, _ = own("observeOnly: true")
	same(t, "pods to observe", verbs(cluster, "pods"), []string{"get", "list", "watch"})
	same(t, "barrier pods to observe", verbs(namespace, "pods"), []string(nil))
	_, _, all = own("idle: {resources: true, metrics: [active_sessions]}")
	rules := get[*rbacv1.ClusterRole](t, all, "podrank-webhook-idle").Rules
	same(t, "metrics", append(verbs(rules, "pods"), verbs(rules, "pods/active_sessions")...), []string{"list", "get"})
}

// What the API server asks about, and who may ask.
func TestRequests(t *testing.T) {
	all := render(t, "{timeoutSeconds: 5, networkPolicy: {requestsFrom: [{ipBlock: {cidr: 10.0.0.0/28}}], metricsFrom: [{podSelector: {matchLabels: {a: b}}}]}}")
	for _, webhook := range get[*admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "podrank-webhook").Webhooks {
		same(t, "path", *webhook.ClientConfig.Service.Path, admit.Path)
		same(t, "failure policy", *webhook.FailurePolicy, admissionregistrationv1.Ignore)
		same(t, "time", *webhook.TimeoutSeconds, int32(5))
		same(t, "conditions", len(webhook.MatchConditions), 2)
		same(t, "namespaces", webhook.NamespaceSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"podrank.dev/steering": "enabled"}})
	}
	ingress := get[*networkingv1.NetworkPolicy](t, all, "podrank-webhook").Spec.Ingress
	same(t, "API servers", ingress[0].From, []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/28"}}})
	same(t, "readers of metrics", ingress[1].From[0].PodSelector.MatchLabels, map[string]string{"a": "b"})
	all = render(t, "{certManager: true, podDisruptionBudget: {maxUnavailable: 50%}}")
	same(t, "budget", get[*policyv1.PodDisruptionBudget](t, all, "podrank-webhook").Spec.MaxUnavailable.String(), "50%")
	configuration := get[*admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "podrank-webhook")
	same(t, "authorities", configuration.Annotations, map[string]string{"cert-manager.io/inject-ca-from": "podrank-system/podrank-webhook"})
	same(t, "from anywhere", len(get[*networkingv1.NetworkPolicy](t, all, "podrank-webhook").Spec.Ingress[0].From), 0)
}

// Helm keeps the definition, and so the policies of all namespaces, unless a value says otherwise.
func TestDefinition(t *testing.T) {
	for values, want := range map[string]string{"{}": "keep", "crds: {keep: false}": ""} {
		definition := get[*apiextensionsv1.CustomResourceDefinition](t, render(t, values), "scaledownpolicies.podrank.dev")
		same(t, values, definition.Annotations["helm.sh/resource-policy"], want)
	}
}

// Platform teams choose what their Prometheus and their Grafana look for, and nothing of theirs is taken for a template.
func TestMonitoring(t *testing.T) {
	all := render(t, `{serviceMonitor: {enabled: true, labels: {release: a}}, alerts: {enabled: true, labels: {release: b}}, dashboard: {enabled: true, labels: {grafana: "1"}}}`,
		"--namespace", "elsewhere")
	labels := map[string]map[string]string{}
	for _, object := range all {
		if foreign, ok := object.(*unstructured.Unstructured); ok {
			labels[foreign.GetKind()] = foreign.GetLabels()
		}
	}
	same(t, "labels", labels, map[string]map[string]string{"ServiceMonitor": {"release": "a"}, "PrometheusRule": {"release": "b"}})
	dashboard := get[*corev1.ConfigMap](t, all, "podrank-webhook-dashboard")
	same(t, "labels of the dashboard", dashboard.Labels, map[string]string{"grafana": "1", "grafana_dashboard": "1"})
	if legend := `"legendFormat": "{{result}}"`; !strings.Contains(dashboard.Data["podrank-webhook.json"], legend) {
		t.Errorf("no %s", legend)
	}
}

// No object names another namespace than the one that it is installed into.
func TestNamespace(t *testing.T) {
	text, err := helm(everything, "--namespace", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "podrank-system") || strings.Count(text, "elsewhere") < 30 {
		t.Errorf("%d times elsewhere, and podrank-system", strings.Count(text, "elsewhere"))
	}
}

const everything = `{certManager: true, createNamespace: true, idle: {resources: true}, serviceMonitor: {enabled: true}, alerts: {enabled: true}, dashboard: {enabled: true}}`

// A value that is misspelt or has another type is an error, and so is one that podrank-webhook would refuse.
func TestSchema(t *testing.T) {
	for values, want := range map[string]string{
		"replica: 3":                                  "replica",
		"image: {name: x}":                            "name",
		"image: {digest: sha256:ab}":                  "digest",
		"image: {pullPolicy: Sometimes}":              "pullPolicy",
		`replicas: "3"`:                               "replicas",
		"mode: Watch":                                 "mode",
		"observeOnly: yes please":                     "observeOnly",
		"foreignCosts: [Keep]":                        "foreignCosts",
		"idle: {prometheus: {adress: x}}":             "adress",
		"timeoutSeconds: 31":                          "timeoutSeconds",
		"timeoutSeconds: 3s":                          "timeoutSeconds",
		"extraArgs: [deadline=2s]":                    "extraArgs",
		"extraArgs: --deadline=2s":                    "extraArgs",
		"clientCA: {configMap: a}":                    "clientCA.commonName",
		"networkPolicy: {requestsFrom: [10.0.0.1]}":   "requestsFrom",
		"resources: {limits: {memory: 1G}}":           "memory",
		"resources: {limit: {memory: 1Gi}}":           "limit",
		"ports: {requests: 443}":                      "requests",
		"podDisruptionBudget: {maxUnavailable: half}": "maxUnavailable",
		"tolerations: {key: a}":                       "tolerations",
		"serviceMonitor: true":                        "serviceMonitor",
		"crds: {keep: 1}":                             "keep",
		"podLabels: {a: 1}":                           "podLabels",
	} {
		if _, err := helm(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
	// As a part of another chart.
	if _, err := helm("global: {registry: example.com}"); err != nil {
		t.Error(err)
	}
}
