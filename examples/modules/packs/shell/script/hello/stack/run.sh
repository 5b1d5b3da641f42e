#!/bin/sh
# The smallest pack: a greeting. It changes nothing, so there is nothing to verify or to destroy.
set -eu
. ./hyops.inputs.sh
case $1 in
apply) printf 'hello, %s\n' "$input_name" ;;
*) echo "$1: nothing to do for a greeting" ;;
esac
