#!/bin/sh
# Builds plugins/NAME.wasm of packages: sh build.sh [NAME...]. It needs Rust: https://rustup.rs
set -eu
cd "$(dirname "$0")"
rustup target add wasm32-wasip2 2>/dev/null || true
target=${CARGO_TARGET_DIR:-target}
[ $# -gt 0 ] || set -- github health vault
for name in "$@"; do
    cargo build --quiet --locked --release --target wasm32-wasip2 --target-dir "$target" --package "$name"
    mkdir -p "$name/plugins"
    cp "$target/wasm32-wasip2/release/$name.wasm" "$name/plugins/$name.wasm"
done
