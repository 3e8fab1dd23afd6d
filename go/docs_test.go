package podrank

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Every exported function and method is called in the files of examples, but for those that other packages call: errors' and fmt's.
func TestEveryFunctionHasAnExample(t *testing.T) {
	var exported []string
	called := map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if !strings.HasSuffix(file.Name(), "_test.go") && node.Name.IsExported() {
					exported = append(exported, node.Name.Name)
				}
			case *ast.CallExpr:
				if function, ok := node.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(file.Name(), "example_") {
					called[function.Sel.Name] = true
				}
			}
			return true
		})
	}
	for _, name := range exported {
		if !called[name] && !slices.Contains([]string{"String", "Error", "Unwrap"}, name) {
			t.Errorf("no example calls %s", name)
		}
	}
	if len(exported) < 40 {
		t.Errorf("only %d exported functions were found", len(exported))
	}
}

// full gives a pod values in fields that are not read, and more in some that are.
func full(pod *corev1.Pod, r *rand.Rand) {
	seconds := int64(r.IntN(60))
	pod.GenerateName, pod.ResourceVersion, pod.Generation = "web-", "7", int64(r.IntN(3))
	pod.Labels = map[string]string{"app": "web"}
	if r.IntN(3) == 0 {
		pod.Labels[PreferForScaleDownLabel] = ""
	}
	pod.OwnerReferences = []metav1.OwnerReference{{UID: "set"}}
	pod.DeletionGracePeriodSeconds = &seconds
	pod.Spec.Priority, pod.Spec.Hostname = new(int32), pod.Name
	if r.IntN(3) == 0 {
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "i"}, {Name: "proxy", RestartPolicy: &always}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{
			{Name: "setup", RestartCount: int32(r.IntN(9))}, {Name: "proxy", RestartCount: int32(r.IntN(2)), Ready: r.IntN(2) == 0},
		}
	}
	pod.Status.Conditions = append([]corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: pod.CreationTimestamp},
	}, pod.Status.Conditions...)
	pod.Status.Conditions[1].Reason, pod.Status.PodIP, pod.Status.Reason = "r", "10.0.0.1", "r"
	if r.IntN(5) == 0 {
		pod.Status.Phase = corev1.PodPending
	}
}

// A slim pod is decided about as the whole one, has its record, and takes little.
func TestSlim(t *testing.T) {
	options := []Option{WithNow(noon), WithPreferForScaleDown(true)}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(20, seed))
		pods, small := some(12), make([]*corev1.Pod, 12)
		for i, pod := range pods {
			full(pod, r)
			small[i] = Slim(pod)
			if RecordOf(small[i]) != RecordOf(pod) || IsActive(small[i]) != IsActive(pod) || small[i].Spec.NodeName != pod.Spec.NodeName ||
				small[i].ResourceVersion != pod.ResourceVersion || small[i].Size() > 400 {
				t.Fatalf("%+v is not %+v", small[i], pod)
			}
			_, want, _, _ := Availability(pods[i:i+1], 30, noon)
			if _, got, _, _ := Availability(small[i:i+1], 30, noon); got != want {
				t.Fatalf("%+v is available, or not, unlike %+v", small[i], pod)
			}
		}
		if want, got := toDelete(t, pods, pods, 12, options...), toDelete(t, small, small, 12, options...); !slices.Equal(got, want) {
			t.Fatalf("%v of the slim pods, %v of the others", got, want)
		}
	}
}
