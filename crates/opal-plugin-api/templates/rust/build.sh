#!/bin/sh
# Builds plugins/__NAME__.wasm. It needs Rust: https://rustup.rs
set -eu
rustup target add wasm32-wasip2 2>/dev/null || true
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --target wasm32-wasip2 --target-dir "$target"
mkdir -p plugins
cp "$target/wasm32-wasip2/release/$(echo __NAME__ | tr - _).wasm" plugins/__NAME__.wasm
