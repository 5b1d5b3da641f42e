use exports::opal::plugin::value::{Call, Error, Guest, Probe};

struct Plugin;

impl Guest for Plugin {
    /// Called while opal plans. What it returns is JSON of the type in `dim.yaml`.
    fn resolve(call: Call, _probe: Probe) -> Result<String, Error> {
        let args: serde_json::Value = serde_json::from_str(&call.args).unwrap_or_default();
        let name = args["name"].as_str().unwrap_or_default();
        let hello = if args["style"] == "short" { "hi" } else { "good day" };
        Ok(serde_json::Value::from(format!("{hello}, {name}")).to_string())
    }
}

export!(Plugin);
