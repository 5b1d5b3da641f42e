#!/bin/sh
set -eu
echo "the server is described in hyops.inputs.json:"
cat hyops.inputs.json
