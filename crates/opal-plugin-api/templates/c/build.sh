#!/bin/sh
# Builds plugins/__NAME__.wasm. It needs Python and Node.js: the compiler comes from PyPI (ziglang), what
# makes a component of its output from npm (jco-transpile).
set -eu
tools=${OPAL_C_TOOLS:-.tools}
[ -x "$tools/bin/python-zig" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet ziglang==0.17.0; }
[ -d "$tools/node_modules/@bytecodealliance/jco-transpile" ] ||
    npm install --silent --prefix "$tools" @bytecodealliance/jco-transpile@0.15.0
mkdir -p plugins
"$tools/bin/python" -m ziglang cc --target=wasm32-wasi -Oz -s -mexec-model=reactor -Wl,--no-entry \
    -DWORLD___WORLD__ -o plugins/core.wasm src/plugin.c src/opal.c
node component.mjs "$tools" plugins/core.wasm wit/plugin.wit __WORLD__ plugins/__NAME__.wasm
rm plugins/core.wasm
