use exports::opal::plugin::action::{Acted, Guest as Action, Stage};
use exports::opal::plugin::state::{Call, Error, Finding, Guest as State, Probe, Status};
use opal::plugin::host::ErrorKind;

struct Plugin;

/// The arguments `path` and `content`.
fn args(call: &Call) -> (String, String) {
    let args: serde_json::Value = serde_json::from_str(&call.args).unwrap_or_default();
    let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
    (text("path"), text("content"))
}

impl State for Plugin {
    /// Compares. It gets no way to change anything. An error means: it cannot be verified.
    fn verify(call: Call, probe: Probe) -> Result<Finding, Error> {
        let (path, content) = args(&call);
        let (status, message) = match probe.read(&path) {
            Ok(bytes) if bytes == content.as_bytes() => (Status::Satisfied, "has this content"),
            Ok(_) => (Status::Drifted, "has another content"),
            Err(error) if error.kind == ErrorKind::Missing => (Status::Missing, "does not exist"),
            Err(error) => return Err(error),
        };
        let message = format!("the file `{path}` {message}");
        Ok(Finding { status, message, details: None, identity: Some(path) })
    }
}

impl Action for Plugin {
    /// Applies. opal verifies before and afterwards.
    fn act(call: Call, _probe: Probe, stage: Stage) -> Result<Acted, Error> {
        let (path, content) = args(&call);
        stage.write(&path, content.as_bytes(), None)?;
        Ok(Acted { output: "null".to_owned(), identity: Some(path), adopted: false })
    }
}

export!(Plugin);
