//! `@github.latest` reads the newest release of a repository, `@github.release` makes one, and
//! `@github.upload` adds a file to one.
//!
//! The token goes to the server as a handle: this code never has it.

use opal_package_common::{Args, Token, header, json, path, segment, unreached};
use opal_plugin::actions::{self, Acted};
use opal_plugin::{Call, Error, ErrorKind, Part, Probe, Request, Response, Secret, Stage, values};
use serde_json::{Value, json as document};

struct Plugin;

/// A repository on a server.
struct Repository<'a> {
    args: Args<'a>,
    /// `team/shop`.
    name: String,
    url: String,
}

impl<'a> Repository<'a> {
    fn of(call: &'a Call) -> Result<Self, Error> {
        let args = Args::of(call);
        let name = args.text("repository").to_owned();
        if name.split('/').count() != 2 {
            let error = Error::new(ErrorKind::Invalid, format!("`{name}` is not a repository"));
            return Err(error.help("write it like `owner/name`"));
        }
        let url = format!("{}/repos/{}", args.server()?, path(&name)?);
        Ok(Self { args, name, url })
    }

    /// The token of the call, or that of `GITHUB_TOKEN`; public repositories need none to be read.
    fn token(&self, probe: &Probe) -> Result<Token<'a>, Error> {
        Token::of(&self.args, probe, "GITHUB_TOKEN")
    }

    fn request<'r>(&'r self, method: &str, url: String, token: Option<&'r Secret>) -> Request<'r> {
        let mut headers = vec![
            header("Accept", "application/vnd.github+json"),
            header("User-Agent", "opal-package-github"),
        ];
        headers.extend(token.map(|token| {
            let parts = vec![Part::Text("Bearer ".to_owned()), Part::Secret(token)];
            ("Authorization".to_owned(), parts)
        }));
        Request { method: method.to_owned(), url, headers, body: Vec::new() }
    }

    /// The release of a tag, or the newest one; none where there is none.
    fn release(
        &self,
        probe: &Probe,
        token: Option<&Secret>,
        which: &str,
    ) -> Result<Option<Value>, Error> {
        let url = format!("{}/releases/{which}", self.url);
        let answer = probe.fetch(&self.request("GET", url.clone(), token));
        let answer = answer.map_err(|error| unreached(error, self.args.text("server")))?;
        match answer.status {
            200 => json(&answer, &url).map(Some),
            404 => Ok(None),
            _ => Err(self.failed(&answer)),
        }
    }

    /// Sends a document; the server must create something.
    fn create(
        &self,
        stage: &Stage,
        token: Option<&Secret>,
        url: String,
        (kind, body): (&str, String),
    ) -> Result<Value, Error> {
        let mut request = self.request("POST", url.clone(), token);
        request.headers.push(header("Content-Type", kind));
        request.body.push(Part::Text(body));
        let answer = stage.send(&request);
        let answer = answer.map_err(|error| unreached(error, self.args.text("server")))?;
        match answer.status {
            201 => json(&answer, &url),
            _ => Err(self.failed(&answer)),
        }
    }

    fn failed(&self, answer: &Response) -> Error {
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let said = said["message"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        let message = format!("the server answers {} for `{}`{said}", answer.status, self.name);
        match answer.status {
            401 | 403 => {
                let error = Error::new(ErrorKind::Denied, message);
                error.help("check the token: it needs `contents: write` to make a release")
            }
            _ => Error::new(ErrorKind::Failed, message).help("check the repository and the tag"),
        }
    }

    fn missing(&self, what: &str) -> Error {
        let error = Error::new(ErrorKind::Missing, format!("`{}` has no release{what}", self.name));
        error.help("check the repository; a private one needs a token")
    }
}

impl values::Guest for Plugin {
    fn resolve(call: Call, probe: Probe) -> Result<String, Error> {
        let it = Repository::of(&call)?;
        let token = it.token(&probe)?;
        let found = it.release(&probe, token.secret(), "latest")?;
        match found.as_ref().and_then(|found| found["tag_name"].as_str()) {
            Some(tag) => Ok(document!(tag).to_string()),
            None => Err(it.missing("")),
        }
    }
}

impl actions::Guest for Plugin {
    fn act(call: Call, probe: Probe, stage: Stage) -> Result<Acted, Error> {
        let it = Repository::of(&call)?;
        let token = it.token(&probe)?;
        let tag = it.args.text("tag").to_owned();
        let which = format!("tags/{}", segment(&tag));
        let found = it.release(&probe, token.secret(), &which)?;
        match call.decorator.rsplit('.').next() {
            Some("upload") => {
                let found = found.ok_or_else(|| it.missing(&format!(" of `{tag}`")))?;
                upload(&it, &probe, &stage, token.secret(), &found)
            }
            _ => release(&it, &stage, token.secret(), found),
        }
    }
}

/// A release of this tag that exists already is taken as it is.
fn release(
    it: &Repository<'_>,
    stage: &Stage,
    token: Option<&Secret>,
    found: Option<Value>,
) -> Result<Acted, Error> {
    let tag = it.args.text("tag");
    let adopted = found.is_some();
    let made = match found {
        Some(found) => found,
        None => {
            let title = it.args.text("title");
            let body = document!({
                "tag_name": tag,
                "name": if title.is_empty() { tag } else { title },
                "body": it.args.text("notes"),
                "draft": it.args.is_set("draft"),
                "prerelease": it.args.is_set("prerelease"),
            });
            let url = format!("{}/releases", it.url);
            it.create(stage, token, url, ("application/json", body.to_string()))?
        }
    };
    let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    let output = document!({
        "id": made["id"].as_u64().unwrap_or_default(),
        "tag": tag,
        "url": text("html_url"),
        "created": !adopted,
    });
    let identity = Some(format!("{}@{tag}", it.name));
    Ok(Acted { output: output.to_string(), identity, adopted })
}

fn upload(
    it: &Repository<'_>,
    probe: &Probe,
    stage: &Stage,
    token: Option<&Secret>,
    release: &Value,
) -> Result<Acted, Error> {
    let file = it.args.text("file");
    let given = it.args.text("name");
    let name = if given.is_empty() { file.rsplit('/').next().unwrap_or(file) } else { given };
    let assets = release["assets"].as_array().into_iter().flatten();
    if assets.into_iter().any(|asset| asset["name"] == name) {
        let message = format!("the release `{}` already has `{name}`", it.args.text("tag"));
        let error = Error::new(ErrorKind::Failed, message);
        return Err(error.help("make a new release, or pass another `name`"));
    }
    let bytes = probe.read(file)?;
    let size = bytes.len();
    let body = String::from_utf8(bytes).map_err(|_| {
        let error = Error::new(ErrorKind::NotText, format!("`{file}` is not a text in UTF-8"));
        error.help("this package uploads text files, such as checksums and lists")
    })?;
    let to = release["upload_url"].as_str().unwrap_or_default();
    let to = to.split('{').next().unwrap_or_default();
    let url = format!("{to}?name={}", segment(name));
    let made = it.create(stage, token, url, ("text/plain; charset=utf-8", body))?;
    let output = document!({
        "name": name,
        "bytes": size,
        "url": made["browser_download_url"].as_str().unwrap_or_default(),
    });
    let identity = Some(format!("{}@{}/{name}", it.name, it.args.text("tag")));
    Ok(Acted { output: output.to_string(), identity, adopted: false })
}

opal_plugin::values::export_value!(Plugin with_types_in opal_plugin::values);
opal_plugin::actions::export_action!(Plugin with_types_in opal_plugin::actions);
