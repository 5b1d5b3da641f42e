//! `@vault.kv` reads a secret of the key/value store (version 2), `@vault.put` writes one.
//!
//! The token goes to the server as a handle: this code never has it. It has the secrets that it reads,
//! because they are in the answers, and the one that it writes, because JSON must quote it.

use opal_package_common::{Args, Token, header, json, path, segment, unreached};
use opal_plugin::actions::{self, Acted};
use opal_plugin::{Call, Error, ErrorKind, Part, Probe, Request, Response, Secret, Stage, values};
use serde_json::{Map, Value, json as document};

struct Plugin;

/// Where a secret is.
struct Place<'a> {
    args: Args<'a>,
    /// `app/database`, as people know it.
    name: String,
    url: String,
}

impl<'a> Place<'a> {
    fn of(call: &'a Call) -> Result<Self, Error> {
        let args = Args::of(call);
        let server = args.server()?;
        let mount = path(args.text("mount"))?;
        let url = format!("{server}/v1/{mount}/data/{}", path(args.text("path"))?);
        let name = format!("{}/{}", args.text("mount"), args.text("path"));
        Ok(Self { args, name, url })
    }

    /// The token of the call, or that of `VAULT_TOKEN`.
    fn token(&self, probe: &Probe) -> Result<Token<'a>, Error> {
        match Token::of(&self.args, probe, "VAULT_TOKEN")? {
            Token::None => {
                let message = "there is no token: `VAULT_TOKEN` is not set";
                let error = Error::new(ErrorKind::Missing, message);
                Err(error.help("set it, or pass `token=@secret.env.NAME`"))
            }
            token => Ok(token),
        }
    }

    fn request<'r>(&'r self, method: &str, token: Option<&'r Secret>, query: &str) -> Request<'r> {
        let mut headers = vec![header("X-Vault-Request", "true")];
        headers.extend(token.map(|it| ("X-Vault-Token".to_owned(), vec![Part::Secret(it)])));
        let namespace = self.args.text("namespace");
        if !namespace.is_empty() {
            headers.push(header("X-Vault-Namespace", &segment(namespace).replace("%2F", "/")));
        }
        let url = format!("{}{query}", self.url);
        Request { method: method.to_owned(), url, headers, body: Vec::new() }
    }

    /// What the server says in place of a secret.
    fn failed(&self, answer: &Response) -> Error {
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let said = said["errors"][0].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        let (name, status) = (&self.name, answer.status);
        match status {
            404 => {
                let error = Error::new(ErrorKind::Missing, format!("there is no secret `{name}`"));
                error.help("check path and mount; a deleted version counts as missing")
            }
            403 => {
                let message = format!("the token may not use `{name}`{said}");
                Error::new(ErrorKind::Denied, message).help("check the token and its policies")
            }
            _ => {
                let message = format!("`{}` answers {status}{said}", self.url);
                Error::new(ErrorKind::Failed, message).help("check the address and the server")
            }
        }
    }

    /// The fields of a secret and its version; none where there is no secret.
    fn read(
        &self,
        probe: &Probe,
        token: Option<&Secret>,
        query: &str,
    ) -> Result<Option<(Map<String, Value>, u64)>, Error> {
        let answer = probe.fetch(&self.request("GET", token, query));
        let answer = answer.map_err(|error| unreached(error, self.args.text("server")))?;
        match answer.status {
            404 => Ok(None),
            200 => {
                let mut found = json(&answer, &self.url)?;
                let version = found["data"]["metadata"]["version"].as_u64().unwrap_or_default();
                match found["data"]["data"].take() {
                    Value::Object(fields) => Ok(Some((fields, version))),
                    _ => {
                        let message = format!("`{}` has no fields", self.name);
                        let error = Error::new(ErrorKind::Invalid, message);
                        Err(error.help("the mount must be a key/value store of version 2"))
                    }
                }
            }
            _ => Err(self.failed(&answer)),
        }
    }
}

impl values::Guest for Plugin {
    fn resolve(call: Call, probe: Probe) -> Result<String, Error> {
        let place = Place::of(&call)?;
        let token = place.token(&probe)?;
        let version = place.args.number("version");
        let query = version.map(|it| format!("?version={it}")).unwrap_or_default();
        let Some((fields, _)) = place.read(&probe, token.secret(), &query)? else {
            let message = format!("there is no secret `{}`", place.name);
            let error = Error::new(ErrorKind::Missing, message);
            return Err(error.help("check path and mount; a deleted version counts as missing"));
        };
        let field = place.args.text("field");
        match fields.get(field) {
            Some(Value::String(text)) => Ok(document!(text).to_string()),
            Some(other) => Ok(document!(other.to_string()).to_string()),
            None => {
                let message = format!("the secret `{}` has no field `{field}`", place.name);
                let names: Vec<&str> = fields.keys().map(String::as_str).collect();
                let help = format!("expected one of: {}", names.join(", "));
                Err(Error::new(ErrorKind::Missing, message).help(help))
            }
        }
    }
}

impl actions::Guest for Plugin {
    /// Other fields stay, and so does what somebody else writes at the same time: the server compares the
    /// version.
    fn act(call: Call, probe: Probe, stage: Stage) -> Result<Acted, Error> {
        let place = Place::of(&call)?;
        let token = place.token(&probe)?;
        let (mut fields, version) = place.read(&probe, token.secret(), "")?.unwrap_or_default();
        let field = place.args.text("field").to_owned();
        let value = match place.args.secret("value") {
            Some(secret) => secret.reveal()?,
            None => String::new(),
        };
        let identity = Some(place.name.clone());
        if fields.get(&field).and_then(Value::as_str) == Some(&value) {
            let output = document!({"version": version, "changed": false}).to_string();
            return Ok(Acted { output, identity, adopted: false });
        }
        fields.insert(field, Value::String(value));
        let body = document!({"options": {"cas": version}, "data": fields}).to_string();
        let mut request = place.request("POST", token.secret(), "");
        request.headers.push(header("Content-Type", "application/json"));
        request.body.push(Part::Text(body));
        let answer = stage.send(&request);
        let answer = answer.map_err(|error| unreached(error, place.args.text("server")))?;
        if answer.status != 200 {
            return Err(place.failed(&answer));
        }
        let version = json(&answer, &place.url)?["data"]["version"].as_u64().unwrap_or_default();
        let output = document!({"version": version, "changed": true}).to_string();
        Ok(Acted { output, identity, adopted: false })
    }
}

opal_plugin::values::export_value!(Plugin with_types_in opal_plugin::values);
opal_plugin::actions::export_action!(Plugin with_types_in opal_plugin::actions);
