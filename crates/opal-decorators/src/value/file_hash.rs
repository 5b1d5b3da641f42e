use std::io::{ErrorKind, Read};

use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor, Effect, Example, Exposure, Param, Site};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble};
use sha2::{Digest, Sha256};

use super::reading::{required, unreadable};
use crate::common::{PUBLIC, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.hash",
    summary: "the SHA-256 digest of a file",
    docs: "Gives the digest of the file's bytes as 64 lower-case hexadecimal digits, the same \
           text that `sha256sum` prints. The file may be of any size and need not be text.\n\n\
           Alone on a line it pins the file: a contract that was made with other content is \
           refused, although no step uses the value.",
    params: &[Param::required("path", "the file to digest; `~` is the home directory"), PUBLIC],
    returns: Some(TEXT),
    effect: Effect::Read,
    site: Site::Target,
    exposure: Exposure::Plain,
    capabilities: &[Capability::FilesRead],
    resolver: Some(&FileHash),
    examples: &[
        Example {
            title: "name a cache after what it was made from",
            source: "var LOCK = @file.hash(\"Cargo.lock\", public=true)\n\n\
                     fun cache() {\n    tar czf cache-@var.LOCK().tar.gz target\n}\n",
        },
        Example {
            title: "deploy exactly the manifest that was reviewed",
            source: "fun deploy() {\n    @file.hash(\"k8s/app.yaml\")\n    \
                     kubectl apply -f k8s/app.yaml\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileHash;

impl Resolver for FileHash {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let path = required(inputs, "path")?;
        let mut file = probe.open(path)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(path, &error)),
            }
        }
        let digits = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(Data::text(digits))
    }
}
