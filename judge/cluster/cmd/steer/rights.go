package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// right is one that a user of podrank has in a namespace: the rule, and one request by which it shows.
type right struct {
	group, resource, subresource string
	verbs                        []string
}

// rights are all that `scale` and `drop` may need in a namespace besides reading.
var rights = map[string]right{
	"patch pods":    {"", "pods", "", []string{"patch"}},
	"scale":         {"*", "*", "scale", []string{"update", "patch", "get"}},
	"create sets":   {"apps", "replicasets", "", []string{"create"}},
	"create pods":   {"", "pods", "", []string{"create"}},
	"delete sets":   {"apps", "replicasets", "", []string{"delete"}},
	"delete pods":   {"", "pods", "", []string{"delete"}},
	"get leases":    {leaseGroup, "leases", "", []string{"get", "list", "watch"}},
	"create leases": {leaseGroup, "leases", "", []string{"create"}},
	"update leases": {leaseGroup, "leases", "", []string{"update", "patch"}},
	"delete leases": {leaseGroup, "leases", "", []string{"delete"}},
}

const leaseGroup = "coordination.k8s.io"

// leaseRights are those of Leases.
var leaseRights = []string{"get leases", "create leases", "update leases", "delete leases"}

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

// role is what a user may do in a namespace without some of the rights.
func role(namespace, user string, without []string) *rbacv1.Role {
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: namespace}}
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		r := rights[name]
		resource := r.resource
		if r.subresource != "" {
			resource += "/" + r.subresource
		}
		if !slices.Contains(without, name) {
			role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: []string{resource}, Verbs: r.verbs})
		}
	}
	return role
}

// grant gives a user all rights in a namespace but some, and waits until that holds.
func grant(ctx context.Context, plane *control.Plane, namespace, user string, without ...string) {
	roles := plane.RbacV1().Roles(namespace)
	_, err := roles.Get(ctx, user, metav1.GetOptions{})
	must.Do(control.IgnoreNotFound(err))
	wanted := role(namespace, user, without)
	if err == nil {
		must.Get(roles.Update(ctx, wanted, metav1.UpdateOptions{}))
	} else {
		plane.Create(ctx, wanted)
		plane.Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: namespace},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}})
	}
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		awaitRight(ctx, plane, namespace, user, rights[name], !slices.Contains(without, name))
	}
}

// awaitRight waits until the API server sees it so.
func awaitRight(ctx context.Context, plane *control.Plane, namespace, user string, r right, isAllowed bool) {
	group, resource := r.group, r.resource
	if group == "*" { // the scale of any
		group, resource = "apps", "deployments"
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.verbs[0], Group: group, Resource: resource,
			Subresource: r.subresource}}}
	for range 200 {
		answer := must.Get(plane.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{}))
		if answer.Status.Allowed == isAllowed {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	must.Do(fmt.Errorf("%s: %s may still not or still may %v %s", namespace, user, r.verbs, r.resource))
}
