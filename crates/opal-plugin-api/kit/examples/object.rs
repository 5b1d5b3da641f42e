//! Objects of a store: `cmd < @store.object("x")` and `cmd > @store.object("x")`.
//!
//! The store is a directory, so that the tests of opal can look into it. The other decorators do it badly.

use opal_plugin::sinks::Guest as Sink;
use opal_plugin::sources::Guest as Source;
use opal_plugin::{Call, Error, ErrorKind, Input, Output, Probe, Stage};

struct Plugin;

const CHUNK_BYTES: usize = 64 << 10;

/// The file of an object: the argument `name`, below `store/`.
fn path(call: &Call) -> String {
    let found = call.args.split_once("\"name\":\"");
    let name = found.map_or("", |(_, rest)| rest.split('"').next().unwrap_or_default());
    format!("store/{name}")
}

impl Source for Plugin {
    fn read(call: Call, to: Output, probe: Probe) -> Result<(), Error> {
        if call.decorator == "store.endless" {
            loop {
                to.write(&[b'y'; 1024])?;
            }
        }
        let bytes = probe.read(&path(&call))?;
        for chunk in bytes.chunks(CHUNK_BYTES) {
            to.write(chunk)?;
            if call.decorator == "store.torn" {
                return Err(Error::new(ErrorKind::Failed, "the connection was lost"));
            }
        }
        Ok(())
    }
}

impl Sink for Plugin {
    fn write(call: Call, bytes: Input, stage: Stage) -> Result<(), Error> {
        let mut whole = Vec::new();
        loop {
            let chunk = bytes.read()?;
            if chunk.is_empty() {
                break;
            }
            whole.extend(chunk);
            match call.decorator.as_str() {
                "store.hasty" => return Ok(()),
                "store.full" => return Err(Error::new(ErrorKind::TooLarge, "the store is full")),
                _ => {}
            }
        }
        stage.write(&path(&call), &whole, None)
    }
}

opal_plugin::sources::export_source!(Plugin with_types_in opal_plugin::sources);
opal_plugin::sinks::export_sink!(Plugin with_types_in opal_plugin::sinks);
