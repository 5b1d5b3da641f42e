use exports::opal::plugin::action::{Acted, Call, Error, Guest, Probe, Stage};
use opal::plugin::host::ErrorKind;
use serde_json::{Value, json};

struct Plugin;

impl Guest for Plugin {
    /// Called when the step runs. The output is JSON of the type in `dim.yaml`.
    fn act(call: Call, probe: Probe, stage: Stage) -> Result<Acted, Error> {
        let args: Value = serde_json::from_str(&call.args).unwrap_or_default();
        let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        let (path, line) = (text("path"), text("line"));
        let mut bytes = match probe.read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind == ErrorKind::Missing => Vec::new(),
            Err(error) => return Err(error),
        };
        bytes.extend(line.as_bytes());
        bytes.push(b'\n');
        stage.write(&path, &bytes, None)?;
        let output = json!({"path": path, "bytes": bytes.len()}).to_string();
        Ok(Acted { output, identity: None, adopted: false })
    }
}

export!(Plugin);
