#!/bin/sh
# Builds plugins/__NAME__.wasm. It needs Node.js; componentize-qjs comes from npm.
set -eu
tool=$(command -v componentize-qjs || true)
if [ -z "$tool" ]; then
    tool=.tools/node_modules/.bin/componentize-qjs
    [ -x "$tool" ] || npm install --silent --prefix .tools componentize-qjs@0.4.5
fi
mkdir -p plugins
"$tool" --wit wit --world __WORLD__ --js src/plugin.js --sync --stub-wasi --output plugins/__NAME__.wasm >/dev/null
