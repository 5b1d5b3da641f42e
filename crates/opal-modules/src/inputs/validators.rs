//! What the inputs of a module must be like beyond what a schema can say: one table, by reference. It
//! is asked last. A reason names keys and never a value.

use serde_json::{Map, Value};

use crate::constraint::Range;
use crate::reference::ModuleRef;

type Validator = fn(&Map<String, Value>) -> Result<(), String>;

static BUILT_IN: [(&str, Validator); 1] = [("demo/network", network)];

/// Asks the validator of this module, if there is one.
pub(super) fn check(module: &ModuleRef, inputs: &Map<String, Value>) -> Result<(), String> {
    let known = BUILT_IN.iter().find(|(reference, _)| *reference == module.as_str());
    known.map_or(Ok(()), |(_, validator)| validator(inputs))
}

/// The range is one: an address, and how many of its bits belong to all.
fn network(inputs: &Map<String, Value>) -> Result<(), String> {
    let is_range = |text: &str| text.contains('/') && Range::parse(text).is_some();
    match inputs.get("cidr") {
        Some(Value::String(text)) if !is_range(text) => {
            Err("`cidr` is not a range of addresses; write it like `10.20.0.0/16`".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_range_has_an_address_and_as_many_bits_as_that_has() {
        let check = |module: &str, text: &str| {
            let inputs = Map::from_iter([("cidr".to_owned(), json!(text))]);
            check(&ModuleRef::parse(module).unwrap(), &inputs)
        };
        for range in ["10.20.0.0/16", "0.0.0.0/0", "::/0", "fd00::/128"] {
            assert_eq!(check("demo/network", range), Ok(()), "{range}");
        }
        for other in ["10.20.0.0", "10.20.0/16", "300.0.0.0/8", "10.0.0.0/33", "::/129", "a/8", ""]
        {
            assert!(check("demo/network", other).is_err(), "{other}");
            assert_eq!(check("other/network", other), Ok(()), "{other}");
        }
        let reason = check("demo/network", "canary-7").unwrap_err();
        assert!(!reason.contains("canary-7"), "{reason}");
    }
}
