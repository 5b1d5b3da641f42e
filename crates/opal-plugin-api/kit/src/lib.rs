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

macro_rules! part {
    ($(#[$doc:meta])* $module:ident, $world:literal, $interface:ident, $macro_name:literal) => {
        $(#[$doc])*
        pub mod $module {
            mod bindings {
                wit_bindgen::generate!({
                    path: "../wit",
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
    values, "opal:plugin/values@1.0.0", value, "export_value"
);
part!(
    /// A state of the world: `verify` compares, `act` applies.
    states, "opal:plugin/states@1.0.0", state, "export_state"
);
part!(
    /// What is opened before a block and closed after it.
    wrappers, "opal:plugin/wrappers@1.0.0", wrapper, "export_wrapper"
);
part!(
    /// Decides before and after each run of a block.
    policies, "opal:plugin/policies@1.0.0", policy, "export_policy"
);

part!(
    /// What follows `<` and gives a step its input.
    sources, "opal:plugin/sources@1.0.0", source, "export_source"
);
part!(
    /// What follows `>` and takes the output of a step.
    sinks, "opal:plugin/sinks@1.0.0", sink, "export_sink"
);
part!(
    /// Where a block runs.
    boundaries, "opal:plugin/boundaries@1.0.0", boundary, "export_boundary"
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
