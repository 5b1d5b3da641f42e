//! The interfaces of `opal-plugin-api`, as Rust.

#![allow(
    unreachable_pub,
    missing_debug_implementations,
    unsafe_code,
    dead_code,
    clippy::all,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: "../opal-plugin-api/wit",
    inline: "package opal:engine;
        world engine {
            import opal:plugin/host@1.0.0;
            export opal:plugin/value@1.0.0;
            export opal:plugin/state@1.0.0;
            export opal:plugin/action@1.0.0;
            export opal:plugin/wrapper@1.0.0;
            export opal:plugin/policy@1.0.0;
            export opal:plugin/boundary@1.0.0;
            export opal:plugin/source@1.0.0;
            export opal:plugin/sink@1.0.0;
        }",
    imports: { default: trappable },
});
