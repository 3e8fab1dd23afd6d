package shown

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const table = `Plan for deploy/web from 4 to 2: delete 2 pods, write 2 deletion costs.
DEFAULT       PLAN     POD    NODE    COST  NEW COST  REASON
kept          deleted  web-a  spot-2  -     -1        lifecycle=spot, whole node
possible 50%  deleted  web-b  <none>  -     -         not assigned
possible 50%  kept     web-c  spot-1  5 (x)  -        -
kept          kept     web-d  spot-1  -     -         -
spot-2 becomes empty.
`

const asks = "Scale deploy/web from 4 to 2? [y/N] "

func TestConfirmed(t *testing.T) {
	again := strings.NewReplacer("deleted  web-a", "kept     web-a", "kept     web-c", "deleted  web-c").Replace(table)
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
		{"a difference and no", asks + "y\nThe plan changed: no longer selected: web-a; now selected: web-c; web-a is gone\n" + asks + "n\n", false, "web-a web-b", true, ""},
		{"a difference and yes", asks + "y\nThe plan changed: no longer selected: web-a; now selected: web-c; web-a is gone\n" + asks + "y\n", false, "web-b web-c", false, ""},
		{"differences with --yes", "The plan changed: no longer selected: web-a; now selected: web-c; it is gone\nThe plan changed: no longer selected: web-c; now selected: web-e; it is gone\n", true, "web-b web-e", false, ""},
		{"another count", asks + "y\nThe plan changed: no longer selected: web-a; it is gone\nScale deploy/web from 3 to 2? [y/N] y\n", false, "web-b", false, ""},
		{"no pod differs", asks + "y\nThe plan changed: there is a new warning\n" + asks + "y\n", false, "web-a web-b", false, ""},
		{"a pod that was not to go", "The plan changed: no longer selected: web-c\n", true, "web-a web-b", false, "no longer selected: web-c"},
		{"a pod that was to go", "The plan changed: now selected: web-a\n", true, "web-a web-b", false, "now selected: web-a"},
		{"a second table", asks + "y\nThe plan changed: no longer selected: web-a; now selected: web-c\n" + again + asks + "y\n", false, "web-b web-c", false, ""},
		{"a second table that differs", asks + "y\nThe plan changed: no longer selected: web-a; now selected: web-d\n" + again + asks + "y\n", false, "web-b web-d", false, "last table"},
		{"another number of pods", "Scale deploy/web from 4 to 1? [y/N] y\n", false, "web-a web-b", false, "4 to 1"},
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
