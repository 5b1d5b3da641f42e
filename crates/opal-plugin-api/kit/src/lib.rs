//! Plugins for opal in Rust.
//!
//! Implement the trait of a part and export it:
//!
//! ```ignore
//! use opal_plugin::{Call, Error, Probe, values};
//!
//! struct Plugin;
//!
//! impl values::Guest for Plugin {
//!     fn resolve(call: Call, probe: Probe) -> Result<String, Error> {
//!         Ok("\"a JSON value\"".to_owned())
//!     }
//! }
//!
//! opal_plugin::values::export_value!(Plugin with_types_in opal_plugin::values);
//! ```
//!
//! Build it with `cargo build --release --target wasm32-wasip2`. What a plugin exports must be exactly
//! what its manifest says.

mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        inline: "package opal:kit; world kit { import opal:plugin/host@1.0.0; }",
        generate_all,
    });
}

pub use bindings::opal::plugin::host::{
    self, Call, Command, Completed, Error, ErrorKind, Input, Outcome, Output, Part, Probe, Request,
    Response, Secret, Stage,
};

/// Each part is a world of its own, so that a plugin exports exactly the parts that it plays.
macro_rules! part {
    (
        $(#[$doc:meta])*
        $module:ident, $interface:ident, $macro_name:literal, $world:literal, $text:literal
    ) => {
        $(#[$doc])*
        pub mod $module {
            mod bindings {
                wit_bindgen::generate!({
                    path: "../wit",
                    inline: $text,
                    world: $world,
                    pub_export_macro: true,
                    export_macro_name: $macro_name,
                    with: { "opal:plugin/host@1.0.0": crate::bindings::opal::plugin::host },
                });
            }
            pub use bindings::*;
            pub use bindings::exports::opal::plugin::$interface::*;
        }
    };
}

part!(
    /// A value, read while planning.
    values, value, "export_value", "opal:kit/value-part",
    "package opal:kit; world value-part { export opal:plugin/value@1.0.0; }"
);
part!(
    /// A state of the world: `verify` compares. What applies it is one of [`actions`].
    states, state, "export_state", "opal:kit/state-part",
    "package opal:kit; world state-part { export opal:plugin/state@1.0.0; }"
);
part!(
    /// What a step does, and what applies a state.
    actions, action, "export_action", "opal:kit/action-part",
    "package opal:kit; world action-part { export opal:plugin/action@1.0.0; }"
);
part!(
    /// What is opened before a block and closed after it.
    wrappers, wrapper, "export_wrapper", "opal:kit/wrapper-part",
    "package opal:kit; world wrapper-part { export opal:plugin/wrapper@1.0.0; }"
);
part!(
    /// Decides before and after each run of a block.
    policies, policy, "export_policy", "opal:kit/policy-part",
    "package opal:kit; world policy-part { export opal:plugin/policy@1.0.0; }"
);
part!(
    /// What follows `<` and gives a step its input.
    sources, source, "export_source", "opal:kit/source-part",
    "package opal:kit; world source-part { export opal:plugin/source@1.0.0; }"
);
part!(
    /// What follows `>` and takes the output of a step.
    sinks, sink, "export_sink", "opal:kit/sink-part",
    "package opal:kit; world sink-part { export opal:plugin/sink@1.0.0; }"
);
part!(
    /// Where a block runs.
    boundaries, boundary, "export_boundary", "opal:kit/boundary-part",
    "package opal:kit; world boundary-part { export opal:plugin/boundary@1.0.0; }"
);

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: Vec::new() }
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}
