//! The code of a package, as what its decorators do.

use std::collections::BTreeSet;

use opal_core::action::Sink;
use opal_core::decorator::{Block, Cost, Descriptor, Exposure, Param, Resource};

use super::{Installed, Purpose};
use crate::adapt::ending::{Ending, Kept};
use crate::adapt::{Adapter, Code};
use crate::manifest::{Body, Declared};

/// The component or the program of a package; none where it has no decorator in code. WASM wins.
pub(crate) fn code(one: &Installed) -> Option<&'static Code> {
    let description = &one.manifest.description;
    let is_native = match one.engine() {
        "wasm" => false,
        "native" => true,
        _ => return None,
    };
    let file = if is_native { &description.native } else { &description.wasm };
    let wasm = one.package.file(file.as_ref()?)?;
    let wasm = match one.purpose {
        Purpose::Use => wasm.to_vec(),
        // It lasts as long as the process, and is never called.
        Purpose::Show => Vec::new(),
    };
    let exports = exports(&one.manifest.decorators).into_iter().map(str::to_owned).collect();
    Some(Box::leak(Box::new(Code {
        capabilities: one.granted().into_iter().collect(),
        checksum: format!("sha256:{}", one.checksum.hex()),
        is_native,
        memory_mib: one.manifest.memory_mib,
        ..Code::new(one.name(), &one.version().to_string(), wasm, exports)
    })))
}

/// What a component must export so that these decorators can do what they declare.
fn exports(declared: &[Declared]) -> BTreeSet<&'static str> {
    let mut all = BTreeSet::new();
    for one in declared.iter().filter(|one| matches!(one.body, Body::Code)) {
        let it = &one.descriptor;
        let has_block = matches!(it.block, Block::Optional | Block::Required);
        let parts = [
            (it.is_value(), "value"),
            (it.resource.is_some(), "state"),
            (it.action.is_some() && (it.resource.is_some() || !has_block), "action"),
            (it.action.is_some() && one.opens, "wrapper"),
            (has_block && one.attempts.is_some(), "policy"),
            (it.boundary.is_some(), "boundary"),
            (it.reads, "source"),
            (it.writes, "sink"),
        ];
        all.extend(parts.into_iter().filter_map(|(has, name)| has.then_some(name)));
    }
    all
}

/// A decorator as it is called.
pub(crate) fn adapter(
    declared: &Declared,
    descriptor: &Descriptor,
    code: &'static Code,
) -> &'static Adapter {
    let secrets = descriptor.params.iter();
    let is_secret = |param: &&Param| param.shape.is_some_and(|shape| shape.secret);
    let secrets = secrets.filter(is_secret);
    let shown = descriptor.params.iter().filter(|param| !is_secret(param));
    Box::leak(Box::new(Adapter {
        code,
        decorator: declared.path.clone(),
        secrets: secrets.map(|param| param.name).collect(),
        gives_secrets: descriptor.exposure == Exposure::Secret,
        returns: descriptor.returns.as_ref().map(|returns| returns.ty.clone()),
        shape: declared.returns,
        block: descriptor.block,
        attempts: declared.attempts.map(|attempts| u32::try_from(attempts.max(1)).unwrap_or(1)),
        is_resource: descriptor.resource.is_some(),
        opens: declared.opens,
        has_targets: descriptor.boundary.is_some(),
        is_expensive: code.is_native || descriptor.cost == Cost::Expensive,
        steering: Box::leak(shown.map(|param| param.name).collect()),
    }))
}

impl Installed {
    /// Compiles its component, so that the first call need not. Nothing of it runs. The reason, where it cannot
    /// be compiled.
    #[must_use]
    pub fn compile(&self) -> Option<String> {
        let code = code(self).filter(|code| !code.is_native)?;
        match code.exported() {
            Ok(exported) => exported.err(),
            Err(failure) => Some(failure.trouble().message.to_string()),
        }
    }

    /// What calls an `end` that a run did not call; none where the package has no such decorator.
    #[must_use]
    pub fn ending(&self, id: &str, kept: Kept) -> Option<&'static Ending> {
        let mut declared = self.manifest.decorators.iter();
        let declared = declared.find(|it| it.path == kept.decorator)?;
        let adapter = adapter(declared, &declared.descriptor, code(self)?);
        Some(Box::leak(Box::new(Ending { adapter, id: id.to_owned(), kept })))
    }
}

/// The descriptor of a decorator whose code this is.
pub(super) fn wire(descriptor: Descriptor, declared: &Declared, code: &'static Code) -> Descriptor {
    let adapter = adapter(declared, &descriptor, code);
    // A quick plan starts no native code.
    let cost = if code.is_native { Cost::Expensive } else { descriptor.cost };
    Descriptor {
        cost,
        resolver: descriptor.resolver.map(|_| adapter as _),
        sink: descriptor.writes.then_some(Sink::Streamed(adapter)),
        source: descriptor.reads.then_some(adapter as _),
        action: descriptor.action.map(|_| adapter as _),
        boundary: descriptor.boundary.map(|_| adapter as _),
        resource: descriptor.resource.as_ref().map(|resource| Resource {
            yaml: resource.yaml,
            key: resource.key,
            verify: adapter,
        }),
        ..descriptor
    }
}

/// What a manifest says about a decorator, once more: a process may read a package twice.
pub(super) fn copy(from: &Descriptor) -> Descriptor {
    Descriptor {
        summary: from.summary,
        docs: from.docs,
        params: from.params,
        returns: from
            .returns
            .as_ref()
            .map(|it| opal_core::decorator::Returns { version: it.version, ty: it.ty.clone() }),
        block: from.block,
        effect: from.effect,
        cost: from.cost,
        exposure: from.exposure,
        result: from.result,
        reads: from.reads,
        writes: from.writes,
        boundary: from.boundary,
        resource: from.resource.as_ref().map(|it| opal_core::decorator::Resource {
            yaml: it.yaml,
            key: it.key,
            verify: it.verify,
        }),
        capabilities: from.capabilities,
        resolver: from.resolver,
        action: from.action,
        sink: from.sink,
        source: from.source,
        examples: from.examples,
        ..Descriptor::BASE
    }
}
