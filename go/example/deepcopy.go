package example

import "k8s.io/apimachinery/pkg/runtime"

// DeepCopyObject is for the scheme, as below: what controller-gen makes.
func (f *Fleet) DeepCopyObject() runtime.Object {
	c := *f
	f.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	f.Spec.Template.DeepCopyInto(&c.Spec.Template)
	return &c
}

// DeepCopyObject is for the scheme.
func (l *FleetList) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = make([]Fleet, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Fleet)
	}
	return &c
}
