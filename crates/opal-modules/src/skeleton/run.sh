#!/bin/sh
# The pack of a module: opal runs it in a copy of this directory, with one word that says what to do.
# Inputs are variables: `label` is $input_label, `network.cidr` is $input_network__cidr.
set -eu
. ./hyops.inputs.sh

# $HYOPS_MEMORY_DIR stays from run to run.
file=$HYOPS_MEMORY_DIR/$input_label.txt

case $1 in
apply)
    printf 'hello, %s\n' "$input_label" >"$file"
    echo "wrote $file"
    printf '{"file": "%s"}\n' "$file" >"$HYOPS_OUTPUTS_FILE"
    ;;
plan) if [ -e "$file" ]; then echo "nothing would change"; else echo "would write $file"; fi ;;
validate) echo "nothing to check" ;;
verify) [ -e "$file" ] || { echo "$file does not exist" && exit 2; } ;; # 2: not in the desired state
destroy) rm -f "$file" && echo "removed $file" ;;
esac
