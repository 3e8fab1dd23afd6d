package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// rights are the rights that `scale` and `drop` may need in a namespace, apart from reading.
var rights = map[string]rbacv1.PolicyRule{
	"patch pods":    right("", "pods", "patch"),
	"scale":         right("*", "*/scale", "update", "patch", "get"),
	"create sets":   right("apps", "replicasets", "create"),
	"create pods":   right("", "pods", "create"),
	"delete sets":   right("apps", "replicasets", "delete"),
	"delete pods":   right("", "pods", "delete"),
	"get leases":    right(leaseGroup, "leases", "get", "list", "watch"),
	"create leases": right(leaseGroup, "leases", "create"),
	"delete leases": right(leaseGroup, "leases", "delete"),
}

func right(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

const leaseGroup = "coordination.k8s.io"

// leaseRights are those of Leases.
var leaseRights = []string{"get leases", "create leases", "delete leases"}

// allowReading lets these users read everything but Leases.
func allowReading(ctx context.Context, plane *control.Plane, users ...string) {
	const name = "podrank-reads"
	read := []string{"get", "list", "watch"}
	plane.Ensure(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"", "apps", "autoscaling", "policy"}, Resources: []string{"*"}, Verbs: read}}})
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}}
	for _, user := range users {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user})
	}
	plane.Ensure(ctx, binding)
}

// grant gives a user all rights in a namespace but some, and waits until that holds.
func grant(ctx context.Context, plane *control.Plane, namespace, user string, without ...string) {
	roles := plane.RbacV1().Roles(namespace)
	_, err := roles.Get(ctx, user, metav1.GetOptions{})
	must.Do(control.IgnoreNotFound(err))
	wanted := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: namespace}}
	for name, rule := range rights {
		if !slices.Contains(without, name) {
			wanted.Rules = append(wanted.Rules, rule)
		}
	}
	if err == nil {
		must.Get(roles.Update(ctx, wanted, metav1.UpdateOptions{}))
	} else {
		plane.Create(ctx, wanted)
		plane.Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: namespace},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}})
	}
	for name, rule := range rights {
		awaitRight(ctx, plane, namespace, user, rule, !slices.Contains(without, name))
	}
}

// awaitRight waits until the API server sees it so.
func awaitRight(ctx context.Context, plane *control.Plane, namespace, user string, r rbacv1.PolicyRule, isAllowed bool) {
	resource, subresource, _ := strings.Cut(strings.Replace(r.Resources[0], "*", "deployments", 1), "/")
	group := strings.Replace(r.APIGroups[0], "*", "apps", 1)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.Verbs[0], Group: group, Resource: resource,
			Subresource: subresource}}}
	for range 200 {
		answer := must.Get(plane.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{}))
		if answer.Status.Allowed == isAllowed {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	must.Do(fmt.Errorf("%s: %s may still not or still may %v %s", namespace, user, r.Verbs, r.Resources))
}
