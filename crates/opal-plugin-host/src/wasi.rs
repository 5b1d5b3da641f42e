//! WASI 0.2 without a world: no variables, no files, no time. The runtimes of languages import it and
//! need answers, so every function answers, and almost all say that there is nothing.
//!
//! What is printed goes to the log of the call. Random numbers come from the seed of the call.

mod answer;

use opal_core::protocol::Refusal;
use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceType};

use crate::engine::{State, load_error};

/// Anything that WASI hands out: a stream, a directory, a clock.
struct Inert;

const PACKAGES: [&str; 7] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:http/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// Whether an import is WASI 0.2.
fn is_wasi(name: &str) -> bool {
    let is_version = name.rsplit_once('@').is_some_and(|(_, version)| version.starts_with("0.2."));
    is_version && PACKAGES.iter().any(|package| name.starts_with(package))
}

fn is_ours(name: &str) -> bool {
    name == "opal:plugin/host@1.0.0"
}

/// Refuses a component that imports anything else.
pub(crate) fn check(component: &Component, engine: &Engine) -> Result<(), Refusal> {
    let ty = component.component_type();
    match ty.imports(engine).find(|(name, _)| !is_wasi(name) && !is_ours(name)) {
        Some((name, _)) => Err(unknown(name)),
        None => Ok(()),
    }
}

/// Gives a component its WASI.
pub(crate) fn link(
    linker: &mut Linker<State>,
    component: &Component,
    engine: &Engine,
) -> Result<(), Refusal> {
    check(component, engine)?;
    let ty = component.component_type();
    for (name, item) in ty.imports(engine).filter(|(name, _)| is_wasi(name)) {
        let ComponentItem::ComponentInstance(instance) = item.ty else {
            return Err(unknown(name));
        };
        let refused = |error: wasmtime::Error| load_error(format!("`{name}`: {error}"));
        let mut to = linker.instance(name).map_err(refused)?;
        for (item_name, item) in instance.exports(engine) {
            define(&mut to, item_name, &item.ty).map_err(refused)?;
        }
    }
    Ok(())
}

fn define(
    to: &mut LinkerInstance<'_, State>,
    name: &str,
    item: &ComponentItem,
) -> wasmtime::Result<()> {
    match item {
        ComponentItem::ComponentFunc(_) => {
            let own = name.to_owned();
            to.func_new(name, move |store, ty, params, results| {
                answer::answer(&own, store, &ty, params, results)
            })
        }
        ComponentItem::Resource(_) => {
            to.resource(name, ResourceType::host::<Inert>(), |_, _| Ok(()))
        }
        // A type has no content of its own; anything else is refused when it is instantiated.
        _ => Ok(()),
    }
}

fn unknown(name: &str) -> Refusal {
    load_error(format!("it imports `{name}`, which opal does not have"))
}
