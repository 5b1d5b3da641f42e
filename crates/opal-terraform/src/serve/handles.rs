//! Secrets in arguments: `{"$secret": 0}` is a handle, and opal reveals its secret.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::data::{Data, Secret, json};
use opal_core::protocol::call::Invocation;

use crate::instance::Asked;

/// The key of a handle.
const SECRET: &str = "$secret";

/// The number of a handle, if it is one.
fn handle(data: &Data) -> Option<u32> {
    let Data::Map(fields) = data else { return None };
    match fields.get(SECRET).filter(|_| fields.len() == 1)? {
        Data::Int(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}

/// Arguments with handles, and which handles they have.
pub(super) struct Sealed {
    decorator: String,
    args: BTreeMap<String, Data>,
    pub(super) handles: BTreeSet<u32>,
}

impl Sealed {
    pub(super) fn read(invocation: &Invocation) -> Option<Self> {
        let Ok(Data::Map(args)) = json::read(invocation.args.expose()) else { return None };
        let mut handles = BTreeSet::new();
        args.values().for_each(|data| collect(data, &mut handles));
        // A handle that the call does not have is not one.
        let fits = handles.iter().all(|handle| *handle < invocation.secrets);
        fits.then(|| Self { decorator: invocation.decorator.clone(), args, handles })
    }

    /// The arguments with what was revealed.
    pub(super) fn open(self, revealed: &BTreeMap<u32, Secret>) -> Asked {
        let mut hidden = Vec::new();
        let args = self.args.into_iter();
        let args = args.map(|(name, data)| {
            let data = opened(data, &name, revealed, &mut hidden);
            (name, data)
        });
        Asked { decorator: self.decorator, args: args.collect(), hidden }
    }
}

fn collect(data: &Data, handles: &mut BTreeSet<u32>) {
    if let Some(number) = handle(data) {
        handles.insert(number);
        return;
    }
    match data {
        Data::Array(items) => items.iter().for_each(|item| collect(item, handles)),
        Data::Map(fields) => fields.values().for_each(|item| collect(item, handles)),
        _ => {}
    }
}

fn opened(
    data: Data,
    path: &str,
    revealed: &BTreeMap<u32, Secret>,
    hidden: &mut Vec<String>,
) -> Data {
    if let Some(text) = handle(&data).and_then(|number| revealed.get(&number)) {
        hidden.push(path.to_owned());
        return Data::Text(text.clone());
    }
    match data {
        Data::Array(items) => {
            let each = items.into_iter().enumerate();
            Data::Array(
                each.map(|(at, item)| opened(item, &format!("{path}[{at}]"), revealed, hidden))
                    .collect(),
            )
        }
        Data::Map(fields) => {
            let each = fields.into_iter().map(|(name, item)| {
                let item = opened(item, &format!("{path}.{name}"), revealed, hidden);
                (name, item)
            });
            Data::Map(each.collect())
        }
        data => data,
    }
}
