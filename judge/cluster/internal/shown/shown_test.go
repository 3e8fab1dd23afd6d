package shown

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const table = `deploy/web from 4 to 2: 2 pods to go, 2 deletion costs to write
BY ITSELF  STEERED  POD    NODE    COST  WRITE  BECAUSE
no         yes      web-a  spot-2  -     -1     lifecycle=spot, whole node
50 %       yes      web-b  <none>  -     -      not assigned
50 %       no       web-c  spot-1  5 (x) -      -
no         no       web-d  spot-1  -     -      -
spot-2 becomes empty.
`

const asks = "Scale deploy/web from 4 to 2 like this? [y/N] "

func TestConfirmed(t *testing.T) {
	again := strings.NewReplacer("yes      web-a", "no       web-a", "no       web-c", "yes      web-c").Replace(table)
	for _, test := range []struct {
		name, stderr string
		yes          bool
		confirmed    string
		refused      bool
		wrong        string
	}{
		{"nothing was asked", "", true, "web-a web-b", false, ""},
		{"nothing was answered", "note: x\n" + asks + "\n", false, "", true, ""},
		{"yes", asks + "y\n", false, "web-a web-b", false, ""},
		{"a difference and no", asks + "y\nWhat changed: -web-a +web-c: web-a is gone\n" + asks + "n\n", false, "web-a web-b", true, ""},
		{"a difference and yes", asks + "y\nWhat changed: -web-a +web-c: web-a is gone\n" + asks + "y\n", false, "web-b web-c", false, ""},
		{"differences with --yes", "What changed: -web-a +web-c: it is gone\nWhat changed: -web-c +web-e: it is gone\n", true, "web-b web-e", false, ""},
		{"another count", asks + "y\nWhat changed: -web-a: it is gone\nScale deploy/web from 3 to 2 like this? [y/N] y\n", false, "web-b", false, ""},
		{"no pod differs", asks + "y\nWhat changed: there is a new warning\n" + asks + "y\n", false, "web-a web-b", false, ""},
		{"a pod that was not to go", "What changed: -web-c\n", true, "web-a web-b", false, "says -web-c"},
		{"a pod that was to go", "What changed: +web-a\n", true, "web-a web-b", false, "says +web-a"},
		{"a second table", asks + "y\nWhat changed: -web-a +web-c\n" + again + asks + "y\n", false, "web-b web-c", false, ""},
		{"a second table that differs", asks + "y\nWhat changed: -web-a +web-d\n" + again + asks + "y\n", false, "web-b web-d", false, "last table"},
		{"another number of pods", "Scale deploy/web from 4 to 1 like this? [y/N] y\n", false, "web-a web-b", false, "4 to 1"},
	} {
		shown, err := Read(table, test.stderr, test.yes)
		confirmed := strings.Join(slices.Sorted(maps.Keys(shown.Confirmed)), " ")
		if confirmed != test.confirmed || shown.Refused != test.refused {
			t.Errorf("%s: %q, %v", test.name, confirmed, shown.Refused)
		}
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
