package main

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
)

// Users who may do all that podrank needs but one thing.
const (
	noPatch  = "may-not-patch-pods"
	noScale  = "may-not-scale"
	noCanary = "may-not-create-sets"
)

var users = []string{noPatch, noScale, noCanary}

// createUsers gives these users their rights.
func createUsers(ctx context.Context, plane *control.Plane) {
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	const workloads = "apps"
	rights := map[string]rbacv1.PolicyRule{
		noPatch:  rule("", []string{"pods"}, "patch", "update"),
		noScale:  rule("*", []string{"deployments/scale", "replicasets/scale", "replicationcontrollers/scale"}, "get", "patch", "update"),
		noCanary: rule(workloads, []string{"replicasets"}, "create"),
	}
	for name := range rights {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
			rule("*", []string{"*"}, "get", "list", "watch"),
			rule("", []string{"pods"}, "create", "delete"),
			rule("", []string{"pods/eviction"}, "create"),
			rule(workloads, []string{"replicasets"}, "delete"),
			rule(leaseGroup, []string{"leases"}, "create", "update", "patch", "delete"),
		}}
		for other, right := range rights {
			if other != name {
				role.Rules = append(role.Rules, right)
			}
		}
		plane.Ensure(ctx, role)
		plane.Ensure(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		})
	}
}
