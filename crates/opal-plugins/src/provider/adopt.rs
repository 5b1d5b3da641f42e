//! Objects of a state file as steps. The helper reads the file and asks the providers.

use std::collections::BTreeMap;
use std::path::Path;

use opal_core::data::{Data, Secret, json};
use opal_core::protocol::call::{Adopted, Found};
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, Refusal};

use super::Provider;
use super::bridge::{Bridge, Configured, denied};
pub use super::identity::instead;
use super::variables::gets;
use crate::client::Serve;
use crate::client::failure::Why;

/// What a state file has.
#[derive(Clone, Debug, Default)]
pub struct StateFile {
    /// Each after those that it depends on.
    pub objects: Vec<StateObject>,
    /// Names of outputs.
    pub outputs: Vec<String>,
    /// What failed replacements have left, by address.
    pub deposed: Vec<String>,
    /// Data sources, by address.
    pub data: Vec<String>,
}

/// One object in it, without what it holds.
#[derive(Clone, Debug)]
pub struct StateObject {
    /// `module.net.aws_vpc.main["a"]`.
    pub address: String,
    /// `aws_vpc`.
    pub of: String,
    /// Whether it exists nowhere else.
    pub is_state_only: bool,
    /// Whether Terraform would replace it, because its creation failed.
    pub is_tainted: bool,
}

/// What a step for an object says.
#[derive(Clone, Debug)]
pub struct AdoptedStep {
    pub args: BTreeMap<String, Data>,
    /// What it is found by, where its arguments do not identify it.
    pub adopt: Option<Data>,
    /// Paths in the arguments whose values are secret.
    pub secrets: Vec<String>,
    /// Attributes that cannot be read back.
    pub unread: Vec<String>,
    pub status: Found,
    pub message: Secret,
}

/// Who waits for answers, and whether they are still wanted.
#[derive(Clone, Copy)]
pub struct Waiting<'w>(pub &'w (dyn Fn() -> bool + Sync));

impl std::fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waiting(…)")
    }
}

impl Serve for Waiting<'_> {
    fn serve(&mut self, _: Service, _: &Body) -> Result<Body, Refusal> {
        denied()
    }

    fn is_stopped(&self) -> bool {
        (self.0)()
    }
}

impl Bridge {
    /// Reads a state file. `recipes` are those of the project, as a JSON object.
    pub fn read_state(
        &self,
        path: &Path,
        recipes: &Secret,
        mut waiting: Waiting<'_>,
    ) -> Result<StateFile, Why> {
        let path = path.display().to_string();
        let params = Body::default().with("path", &path).with("recipes", recipes);
        let read = self.ask("adopt.read", params, &mut waiting)?;
        state_file(&read).ok_or_else(|| Why::Strange("its answer has another form".to_owned()))
    }

    /// The step for an object of the file that was read last. `variable` reads the environment.
    pub fn adopt(
        &self,
        provider: &Provider,
        number: u32,
        variable: &dyn Fn(&str) -> Option<Secret>,
        mut waiting: Waiting<'_>,
    ) -> Result<AdoptedStep, Why> {
        let short = provider.wanted.short();
        let names = self.variables.iter().filter(|name| gets(short, name));
        let environment = names.filter_map(|name| Some((name.clone(), variable(name)?)));
        let configured =
            Configured { provider, config: Secret::new("{}"), environment: environment.collect() };
        let params = Body::default().with("object", &number);
        let adopted = self.send(&configured, "state.adopt", params, &mut waiting)?;
        step(adopted).ok_or_else(|| Why::Strange("its answer has another form".to_owned()))
    }
}

fn state_file(read: &Body) -> Option<StateFile> {
    let objects: Secret = read.get("objects")?;
    let Ok(Data::Array(objects)) = json::read(objects.expose()) else { return None };
    let object = |data: &Data| {
        let Data::Map(fields) = data else { return None };
        let text = |name: &str| fields.get(name).and_then(Data::as_text).map(str::to_owned);
        let is = |name: &str| matches!(fields.get(name), Some(Data::Bool(true)));
        Some(StateObject {
            address: text("address")?,
            of: text("type")?,
            is_state_only: is("state_only"),
            is_tainted: is("tainted"),
        })
    };
    Some(StateFile {
        objects: objects.iter().map(object).collect::<Option<_>>()?,
        outputs: read.get("outputs")?,
        deposed: read.get("deposed")?,
        data: read.get("data")?,
    })
}

fn step(adopted: Adopted) -> Option<AdoptedStep> {
    let Ok(Data::Map(args)) = json::read(adopted.args.expose()) else { return None };
    let adopt = adopted.adopt.map(|text| json::read(text.expose())).transpose().ok()?;
    Some(AdoptedStep {
        args,
        adopt,
        secrets: adopted.secrets.unwrap_or_default(),
        unread: adopted.unread.unwrap_or_default(),
        status: adopted.status,
        message: adopted.message,
    })
}
