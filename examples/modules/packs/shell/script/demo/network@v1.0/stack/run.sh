#!/bin/sh
# A simulated network: one file in the directory that outlives the run.
set -eu
. ./hyops.inputs.sh

paper=$HYOPS_MEMORY_DIR/network.txt
wanted="network $input_name
range   $input_cidr"

say() { printf '%s\n' "$*"; }
json() { printf '"%s"' "$(printf %s "$1" | sed 's/["\\]/\\&/g')"; }
is_written() { [ -f "$paper" ] && [ "$(cat "$paper")" = "$wanted" ]; }

case $1 in
apply)
    if is_written; then
        say "the network $input_name is as it should be"
    else
        printf '%s\n' "$wanted" >"$paper"
        say "the network $input_name is written down"
    fi
    printf '{"name": %s, "cidr": %s}\n' "$(json "$input_name")" "$(json "$input_cidr")" \
        >"$HYOPS_OUTPUTS_FILE"
    ;;
plan) if is_written; then say "nothing would change"; else printf '%s\n' "$wanted"; fi ;;
validate)
    case ${input_cidr#*/} in
    [0-9] | [12][0-9] | 3[0-2]) say "the range $input_cidr can be one" ;;
    *) say "the range $input_cidr has no length from 0 to 32" >&2 && exit 1 ;;
    esac
    ;;
verify) is_written || { say "the network $input_name is not as it should be" && exit 2; } ;;
destroy) rm -f "$paper" && say "the network $input_name is gone" ;;
esac
