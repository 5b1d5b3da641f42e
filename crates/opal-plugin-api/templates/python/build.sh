#!/bin/sh
# Builds plugins/__NAME__.wasm. It needs Python; componentize-py comes from PyPI.
set -eu
tool=$(command -v componentize-py || true)
if [ -z "$tool" ]; then
    tool=.tools/bin/componentize-py
    [ -x "$tool" ] || { python3 -m venv .tools && .tools/bin/pip install --quiet componentize-py==0.25.1; }
fi
mkdir -p plugins
"$tool" -d wit -w __WORLD__ componentize plugin -p src --stub-wasi -o plugins/__NAME__.wasm >/dev/null
