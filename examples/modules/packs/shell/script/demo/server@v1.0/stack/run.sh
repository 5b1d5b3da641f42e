#!/bin/sh
# A simulated server in the network of `demo/network`, whose published output is an input here.
set -eu
. ./hyops.inputs.sh

paper=$HYOPS_MEMORY_DIR/server.txt
wanted="server  $input_size
network $input_network__name ($input_network__cidr)"

say() { printf '%s\n' "$*"; }
json() { printf '"%s"' "$(printf %s "$1" | sed 's/["\\]/\\&/g')"; }
is_written() { [ -f "$paper" ] && [ "$(cat "$paper")" = "$wanted" ]; }

case $1 in
apply)
    if is_written; then
        say "the server is as it should be"
    else
        printf '%s\n' "$wanted" >"$paper"
        say "a $input_size server stands in $input_network__name"
    fi
    printf '{"size": %s, "network": %s, "file": %s}\n' \
        "$(json "$input_size")" "$(json "$input_network__name")" "$(json "$paper")" >"$HYOPS_OUTPUTS_FILE"
    ;;
plan) if is_written; then say "nothing would change"; else printf '%s\n' "$wanted"; fi ;;
validate)
    case $input_size in
    small | large) say "a $input_size server can be had" ;;
    *) say "there are small and large servers, and none that are $input_size" >&2 && exit 1 ;;
    esac
    ;;
verify) is_written || { say "the server is not as it should be" && exit 2; } ;;
destroy) rm -f "$paper" && say "the server is gone" ;;
esac
