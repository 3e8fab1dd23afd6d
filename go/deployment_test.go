package podrank

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deploymentVectors are tests/vectors/deployment.json: what every implementation decides.
type deploymentVectors struct {
	Percent []struct {
		Text    string
		Percent *uint32
		Error   string
	}
	Annotation []struct {
		Text           string
		Valid, Lenient *int32
	}
	Budgets []struct {
		Replicas                 int32
		MaxSurge, MaxUnavailable intstr.IntOrString
		Surge, Unavailable       int32
	}
	Steps []vectorDeployment
}

type vectorDeployment struct {
	Name       string
	Deployment struct {
		Replicas, StatusReplicas                      int32
		Strategy                                      string
		MaxSurge, MaxUnavailable                      intstr.IntOrString
		OldPodsRun, Paused, BeingDeleted, RollingBack bool
	}
	Sets []struct {
		Name                                        string
		CreationTime                                nanoseconds
		Replicas, StatusReplicas, AvailableReplicas int32
		Desired, Max                                *string
		Current                                     bool
	}
	Path               string
	Surge, Unavailable int32
	NewSet, Missing    string
	Creates            *int32
	GoesOn             bool
	Changes            []struct {
		Replicas, Part int32
		Reason         string
		Annotates      bool
	}
}

func deploymentJSON(t *testing.T) (file deploymentVectors) {
	t.Helper()
	readVectors(t, "deployment.json", &file)
	atLeast(t, 15, len(file.Percent), len(file.Annotation), len(file.Budgets), len(file.Steps))
	return file
}

func TestPercentJSON(t *testing.T) {
	errors := map[string]string{
		"no percent sign": "does not end with '%'", "no digits": "has no digits", "not a digit": "not a digit",
		"out of range": "above 4194304",
	}
	for _, c := range deploymentJSON(t).Percent {
		percent, err := engine.Current.ParsePercent(c.Text)
		if c.Percent == nil {
			if err == nil || !strings.Contains(err.Error(), errors[c.Error]) {
				t.Errorf("%q: %v, want %s", c.Text, err, c.Error)
			}
		} else if err != nil || percent != *c.Percent {
			t.Errorf("%q: %d, %v", c.Text, percent, err)
		}
	}
}

func TestAnnotationJSON(t *testing.T) {
	const desired, lenient, max = 2, 4, 8
	for _, c := range deploymentJSON(t).Annotation {
		set := core.ReplicaSet{Flags: core.ReplicaSetCurrentTemplate}
		if err := engine.Current.SetAnnotations(&set, c.Text, c.Text); err != nil {
			t.Fatal(err)
		}
		want := core.ReplicaSet{Flags: core.ReplicaSetCurrentTemplate}
		switch {
		case c.Valid != nil:
			want.Flags |= desired | max
			want.DesiredReplicas, want.MaxReplicas = *c.Valid, *c.Valid
		case c.Lenient != nil:
			want.Flags |= lenient
			want.DesiredReplicas = *c.Lenient
		}
		if set != want {
			t.Errorf("%q: %+v, want %+v", c.Text, set, want)
		}
	}
}

func TestBudgetsJSON(t *testing.T) {
	for _, c := range deploymentJSON(t).Budgets {
		step, err := NextDeployment(rolling(c.Replicas, c.MaxSurge, c.MaxUnavailable), nil, nil)
		if err != nil || step.MaxSurge != c.Surge || step.MaxUnavailable != c.Unavailable {
			t.Errorf("%+v: %+v, %v", c, step, err)
		}
	}
}

func TestDeploymentJSON(t *testing.T) {
	for _, c := range deploymentJSON(t).Steps {
		deployment, sets, pods := c.objects()
		before := asJSON(t, deployment, sets, pods)
		step, err := NextDeployment(deployment, sets, pods)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if asJSON(t, deployment, sets, pods) != before {
			t.Errorf("%s: the objects changed", c.Name)
		}
		if step.Path.String() != c.Path || step.MaxSurge != c.Surge || step.MaxUnavailable != c.Unavailable ||
			step.GoesOn != c.GoesOn || step.Creates != (c.Creates != nil) {
			t.Errorf("%s: %+v", c.Name, step)
		}
		if c.Creates != nil && step.New.Replicas != *c.Creates {
			t.Errorf("%s: creates a set of %d, want %d", c.Name, step.New.Replicas, *c.Creates)
		}
		if c.NewSet == "" && (step.New.Set != nil || step.New.Reason != Reason(c.Missing)) {
			t.Errorf("%s: the new set is %+v", c.Name, step.New)
		}
		if len(step.Changes) != len(c.Changes) {
			t.Fatalf("%s: %d changes", c.Name, len(step.Changes))
		}
		for i, want := range c.Changes {
			got := SetChange{Set: sets[i], Replicas: want.Replicas, Part: want.Part, Reason: Reason(want.Reason), Annotates: want.Annotates}
			if step.Changes[i] != got {
				t.Errorf("%s: %s: %+v, want %+v", c.Name, sets[i].Name, step.Changes[i], want)
			}
			if sets[i].Name == c.NewSet && step.New != got {
				t.Errorf("%s: the new set is %+v, want %+v", c.Name, step.New, got)
			}
		}
	}
}

func asJSON(t *testing.T, objects ...any) string {
	t.Helper()
	text, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rolling(replicas int32, surge, unavailable intstr.IntOrString) *appsv1.Deployment {
	d := defaultedDeployment()
	d.Spec.Replicas, d.Spec.Template.Spec.Hostname = &replicas, "new"
	*d.Spec.Strategy.RollingUpdate = appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}
	return d
}

func replicaSet(name string, replicas int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas},
	}
}

func podOf(set *appsv1.ReplicaSet, phase corev1.PodPhase) *corev1.Pod {
	owner := *metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

// objects are those of the API that say the same.
func (c *vectorDeployment) objects() (*appsv1.Deployment, []*appsv1.ReplicaSet, []*corev1.Pod) {
	d := rolling(c.Deployment.Replicas, c.Deployment.MaxSurge, c.Deployment.MaxUnavailable)
	d.Status.Replicas = c.Deployment.StatusReplicas
	d.Spec.Paused = c.Deployment.Paused
	if c.Deployment.Strategy != "" {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.DeploymentStrategyType(c.Deployment.Strategy)}
	}
	if c.Deployment.BeingDeleted {
		d.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	if c.Deployment.RollingBack {
		d.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: "0"}
	}
	var sets []*appsv1.ReplicaSet
	var pods []*corev1.Pod
	for _, s := range c.Sets {
		set := replicaSet(s.Name, s.Replicas)
		set.Annotations = map[string]string{}
		if s.CreationTime.int64 != nil {
			set.CreationTimestamp = metav1.NewTime(time.Unix(0, *s.CreationTime.int64))
		}
		set.Status = appsv1.ReplicaSetStatus{Replicas: s.StatusReplicas, AvailableReplicas: s.AvailableReplicas}
		if s.Desired != nil {
			set.Annotations[DesiredReplicasAnnotation] = *s.Desired
		}
		if s.Max != nil {
			set.Annotations[MaxReplicasAnnotation] = *s.Max
		}
		if s.Current {
			set.Spec.Template = *d.Spec.Template.DeepCopy()
			set.Spec.Template.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: s.Name}
		} else if c.Deployment.OldPodsRun {
			pods = append(pods, podOf(set, corev1.PodUnknown))
		}
		sets = append(sets, set)
	}
	return d, sets, pods
}

// Which template is the Deployment's is a matter of meaning, not of bytes.
func TestNextStepComparesTemplatesAsKubernetes(t *testing.T) {
	d := rolling(3, intstr.FromInt32(1), intstr.FromInt32(0))
	limits := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Resources: limits("1")}}
	for name, c := range map[string]struct {
		change  func(*corev1.PodTemplateSpec)
		current bool
	}{
		"the same":            {func(*corev1.PodTemplateSpec) {}, true},
		"the label of a hash": {func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{"pod-template-hash": "1"} }, true},
		"empty for nil":       {func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{} }, true},
		"1000m for 1":         {func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Resources = limits("1000m") }, true},
		"another label":       {func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{"a": "b"} }, false},
		"999m for 1":          {func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Resources = limits("999m") }, false},
	} {
		set := replicaSet("web-1", 3)
		set.Spec.Template = *d.Spec.Template.DeepCopy()
		c.change(&set.Spec.Template)
		step, err := NextDeployment(d, []*appsv1.ReplicaSet{set}, nil)
		if err != nil || (step.New.Set == set) != c.current || step.Creates == c.current {
			t.Errorf("%s: %+v, %v", name, step, err)
		}
	}
}

// Recreate waits for pods of other sets, and for no others.
func TestNextStepWaitsForOldPods(t *testing.T) {
	d := rolling(3, intstr.FromInt32(0), intstr.FromInt32(0))
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	old, current := replicaSet("old", 0), replicaSet("new", 0)
	current.Spec.Template = d.Spec.Template
	sets := []*appsv1.ReplicaSet{old, current}
	stranger := replicaSet("stranger", 0)
	for _, c := range []struct {
		pods   []*corev1.Pod
		reason Reason
	}{
		{nil, "to-count"},
		{[]*corev1.Pod{podOf(old, corev1.PodSucceeded), podOf(old, corev1.PodFailed)}, "to-count"},
		{[]*corev1.Pod{podOf(current, corev1.PodRunning), podOf(stranger, corev1.PodRunning), {}}, "to-count"},
		{[]*corev1.Pod{podOf(old, corev1.PodFailed), podOf(old, corev1.PodPending)}, "waits"},
		{[]*corev1.Pod{podOf(old, "")}, "waits"},
	} {
		if step, err := NextDeployment(d, sets, c.pods); err != nil || step.New.Reason != c.reason {
			t.Errorf("%v: %+v, %v", c.pods, step.New, err)
		}
	}
}

func TestNextStepNamesWhatIsWrong(t *testing.T) {
	one, negative := intstr.FromInt32(1), int32(-1)
	for want, change := range map[string]func(d *appsv1.Deployment, sets []*appsv1.ReplicaSet){
		"Deployment shop/web: status.replicas is negative: -1": func(d *appsv1.Deployment, _ []*appsv1.ReplicaSet) { d.Status.Replicas = -1 },
		"sets[1] is nil": func(_ *appsv1.Deployment, s []*appsv1.ReplicaSet) { s[1] = nil },
		"sets[1] (shop/b): spec.replicas is missing":                 func(_ *appsv1.Deployment, s []*appsv1.ReplicaSet) { s[1].Spec.Replicas = nil },
		"sets[1] (shop/b): spec.replicas is negative: -1":            func(_ *appsv1.Deployment, s []*appsv1.ReplicaSet) { s[1].Spec.Replicas = &negative },
		"sets[1] (shop/b): status.availableReplicas is negative: -1": func(_ *appsv1.Deployment, s []*appsv1.ReplicaSet) { s[1].Status.AvailableReplicas = -1 },
		"sets[1] (shop/b): status.replicas is negative: -1":          func(_ *appsv1.Deployment, s []*appsv1.ReplicaSet) { s[1].Status.Replicas = -1 },
	} {
		d, sets := rolling(3, one, one), []*appsv1.ReplicaSet{replicaSet("a", 1), replicaSet("b", 2)}
		change(d, sets)
		step, err := NextDeployment(d, sets, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "podrank: ") || !strings.Contains(err.Error(), want) || step.Changes != nil {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got := Path(77).String(); got != "Path(77)" {
		t.Error(got)
	}
}
