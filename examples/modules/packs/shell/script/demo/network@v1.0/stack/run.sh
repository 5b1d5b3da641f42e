#!/bin/sh
set -eu
echo "the network is described in hyops.inputs.json:"
cat hyops.inputs.json
