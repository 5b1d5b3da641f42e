use exports::opal::plugin::wrapper::{Call, Error, Guest, Opened, Outcome, Probe, Stage};
use opal::plugin::host::ErrorKind;

struct Plugin;

impl Guest for Plugin {
    /// Called before the block. The token goes to `end`, and into the record of the run.
    fn begin(call: Call, probe: Probe, stage: Stage) -> Result<Opened, Error> {
        let args: serde_json::Value = serde_json::from_str(&call.args).unwrap_or_default();
        let path = args["path"].as_str().unwrap_or_default().to_owned();
        match probe.read(&path) {
            Ok(_) => {
                let message = format!("the file `{path}` exists");
                let help = vec!["wait until the other run is done, or remove the file".to_owned()];
                return Err(Error { kind: ErrorKind::Failed, message, help });
            }
            Err(error) if error.kind == ErrorKind::Missing => {}
            Err(error) => return Err(error),
        }
        // Before it exists: then `end` is called, whatever happens next.
        stage.keep(&path)?;
        stage.write(&path, b"locked", None)?;
        Ok(Opened { token: path.clone(), env: vec![("LOCK_FILE".to_owned(), path)] })
    }

    /// Called after the block, also after a failure and after Ctrl+C.
    fn end(_call: Call, token: String, _outcome: Outcome, stage: Stage) -> Result<(), Error> {
        match stage.remove(&token) {
            Err(error) if error.kind != ErrorKind::Missing => Err(error),
            _ => Ok(()),
        }
    }
}

export!(Plugin);
