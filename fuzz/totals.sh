#!/usr/bin/env bash
# The number of executions of each target so far. The totals are kept outside the checkout, in
# ${PODRANK_STATE:-${XDG_STATE_HOME:-~/.local/state}/podrank}, so that fuzzing changes no tracked file.
#
# totals.sh                    prints them as a table
# totals.sh --add TARGET COUNT adds to the total of a target
set -euo pipefail
cd "$(dirname "$0")"
state=${PODRANK_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/podrank}
# One line for each target: its name and its total.
totals=$state/fuzz-executions
mkdir -p "$state"
touch "$totals"

table() {
    echo '| target | executions |'
    echo '|---|---|'
    awk '{ printf "| `%s` | %d |\n", $1, $2; sum += $2 } END { printf "| all | %d |\n", sum }' "$totals"
}

case ${1:-} in
'') table ;;
--add)
    awk -v target="$2" -v count="$3" '
        $1 == target { $2 += count; seen = 1 }
        { printf "%s %d\n", $1, $2 }
        END { if (!seen) printf "%s %d\n", target, count }' "$totals" >"$totals.new"
    mv "$totals.new" "$totals"
    ;;
*)
    sed -n 's/^# \(totals.sh.*\)/\1/p' "$0" >&2
    exit 2
    ;;
esac
