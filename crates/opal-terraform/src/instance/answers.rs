//! Verifying an object and acting on it.

use std::time::Duration;

use opal_core::data::Secret;
use opal_core::protocol::call::{Acted, Deed, Finding, Found, Intent};
use opal_core::protocol::{Body, Refusal};
use opal_core::recipe::{Owner, TAG};
use tokio::time::timeout;

use super::step::Step;
use super::{Asked, Failed, Instance, some};
use crate::apply::{self, Allowed, Done};
use crate::client::{Object, Observe, Provider};
use crate::differ::Difference;
use crate::identity::Chosen;
use crate::schema::Block;
use crate::secrets;
use crate::trouble::Trouble;
use crate::value::Value;
use crate::verify::{self, Ask, Status, Verified};

/// What is said about the account of an object that has none, because it is on this machine.
const LOCAL: &str = "local";

/// The attributes of a data source that name an account.
const ACCOUNTS: [&str; 3] = ["account_id", "account", "id"];

/// Paths, each with what is expected there and what is there.
type Values = Vec<(String, (Secret, Secret))>;

/// What a finding says in words.
struct Words {
    status: Found,
    message: String,
    differences: Vec<Difference>,
}

impl Words {
    fn new(status: Found, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), differences: Vec::new() }
    }
}

impl Instance {
    /// It cannot ask for a change: it has no provider.
    pub(super) async fn verify(&self, observe: Observe, asked: &Asked) -> Result<Body, Failed> {
        let (of, is_absent) = named(&asked.decorator);
        let step = self.step(&observe, of, is_absent, asked)?;
        let observe = observe.within(step.limit);
        let (verified, account) = within(step.limit, async {
            let verified = match is_absent {
                true => verify::present(&observe, &step.ask).await?,
                false => verify::verify(&observe, &step.ask).await?,
            };
            Ok((verified, self.account(&observe, of).await?))
        })
        .await?;
        let block = observe.resource(of)?;
        if let Some(object) = &verified.object {
            self.keep_secret(secrets::texts(block, &object.state));
        }
        let words = self.words(of, is_absent, &step, &verified.status)?;
        let fixed = match &verified.status {
            Status::Drifted { replace, .. } if !is_absent => some(replace.clone()),
            _ => None,
        };
        let details = (!verified.unread.is_empty())
            .then(|| self.shown(&format!("not read back: {}", verified.unread.join(", "))));
        let object = verified.object.as_ref().filter(|_| !is_absent);
        let state = object.map(|object| &object.state);
        let digest = verified.digest(block);
        Ok(Body::of(&Finding {
            status: words.status,
            message: self.shown(&words.message),
            details,
            identity: verified.object.as_ref().and_then(Object::shown_identity),
            object: state.map(|state| self.document(state)).transpose()?,
            secrets: some(state.map(|state| secrets::paths(block, state)).unwrap_or_default()),
            unread: some(verified.unread.clone()),
            digest: Some(digest),
            differences: self.values(&words.differences, &step.hidden),
            account,
            marked: Some(matches!(step.ask.by, Chosen::Mark { .. })),
            deletes: Some(deletes(is_absent, &step, &verified.status)),
            created: verified.object.as_ref().and_then(|it| created(&it.state)),
            fixed,
        }))
    }

    /// What differs, without what is sensitive.
    fn values(&self, differences: &[Difference], hidden: &[String]) -> Option<Values> {
        let each = differences.iter().map(|it| {
            let (expected, actual) = it.hidden_values(hidden);
            (it.path.clone(), (self.shown(&expected), self.shown(&actual)))
        });
        (!differences.is_empty()).then(|| each.collect())
    }

    fn words(
        &self,
        of: &str,
        is_absent: bool,
        step: &Step,
        status: &Status,
    ) -> Result<Words, Refusal> {
        Ok(match (status, is_absent) {
            (Status::Blocked(why), _) => return Err(self.invalid(why)),
            (Status::Missing, true) => Words::new(Found::Satisfied, "it does not exist"),
            (_, true) => Words::new(Found::Drifted, "it exists, and is to be removed"),
            (Status::Missing, false) => Words::new(Found::Missing, self.not_found(of, &step.ask)),
            (Status::Satisfied, false) => Words::new(Found::Satisfied, ""),
            (Status::Rewrite, false) => {
                Words::new(Found::Unknown, "what cannot be read back is sent again")
            }
            (Status::Drifted { differences, replace }, false) => {
                let lines = differences.iter().map(|it| it.hidden_line(&step.hidden));
                let replaced =
                    replace.iter().map(|path| format!("{path} cannot be changed in place"));
                let message = lines.chain(replaced).collect::<Vec<_>>().join("\n");
                // opal hides what is opposite a secret only where it gets the differences.
                let differences = differences.clone();
                Words { differences, ..Words::new(Found::Drifted, message) }
            }
        })
    }

    /// Whose objects of a type are; none where nobody says so.
    async fn account(&self, observe: &Observe, of: &str) -> Result<Option<Secret>, Trouble> {
        let from = match self.recipes.owner(of) {
            None => return Ok(None),
            Some(Owner::Local) => return Ok(Some(Secret::new(LOCAL))),
            Some(Owner::Data(from)) => from,
        };
        if let Some(known) = self.accounts.borrow().get(from) {
            return Ok(Some(known.clone()));
        }
        let block = observe.schemas().data.get(from);
        let block = block.ok_or_else(|| Trouble::invalid(format!("no data source `{from}`")))?;
        let state = observe.data(from, block.complete(Value::map([]))).await?;
        let mut names = ACCOUNTS.iter().filter_map(|name| state.field(name).as_text());
        let Some(account) = names.find(|it| !it.is_empty()) else {
            return Err(Trouble::invalid(format!("`{from}` reports no account")));
        };
        let account = Secret::new(format!("account:{account}"));
        self.accounts.borrow_mut().insert(from.clone(), account.clone());
        Ok(Some(account))
    }

    pub(super) async fn act(
        &self,
        provider: &Provider,
        asked: &Asked,
        announce: &impl AsyncFn(Intent) -> Result<(), Refusal>,
    ) -> Result<Body, Failed> {
        let (of, is_absent) = named(&asked.decorator);
        let observe = provider.observe();
        let step = self.step(&observe, of, is_absent, asked)?;
        let (observe, change) = (observe.within(step.limit), provider.change());
        let block = observe.resource(of)?;
        let announce = async |deed| {
            let hides_denied = deed == Deed::Create && self.recipes.hides_denied(of);
            let account = match hides_denied {
                true => self.account(&observe, of).await?,
                false => None,
            };
            let by = self.shown(&found_by(&step.ask));
            let said = announce(Intent { deed, by, hides_denied, account }).await;
            said.map_err(|refusal| Trouble::invalid(refusal.message.expose()))
        };
        let acted = if is_absent {
            let only = step.only.as_ref();
            apply::absent(&observe, &change, &step.ask, step.settle, only, &announce).await?
        } else {
            let (replace, only) = (step.replace, step.only.clone());
            let allowed = Allowed { replace, settle: step.settle, only };
            apply::apply(&observe, &change, &step.ask, allowed, &announce).await?
        };
        let lenient = |why: &String| format!("{}: {why}, which its library allows", self.name);
        self.notes.borrow_mut().extend(acted.warnings.iter().map(lenient));
        let message = done(&acted.done, acted.object.as_ref());
        let changes = match &acted.done {
            Done::Changed(all) => self.values(all, &step.hidden),
            _ => None,
        };
        self.acted(block, acted.object, message, changes)
    }

    fn acted(
        &self,
        block: &Block,
        object: Option<Object>,
        message: Option<String>,
        changes: Option<Values>,
    ) -> Result<Body, Failed> {
        let none = Value::Null;
        let state = object.as_ref().map_or(&none, |object| &object.state);
        self.keep_secret(secrets::texts(block, state));
        Ok(Body::of(&Acted {
            output: self.document(state)?,
            identity: object.as_ref().and_then(Object::shown_identity),
            adopted: false,
            unread: None,
            secrets: some(secrets::paths(block, state)),
            digest: None,
            message: message.map(|message| self.shown(&message)),
            changes,
        }))
    }

    /// After a crash in an apply nobody knows how far it came: another process verifies once.
    pub(super) async fn after_crash(
        &self,
        asked: &Asked,
        trouble: Trouble,
    ) -> Result<Body, Refusal> {
        let provider = self.provider().await?;
        let (of, is_absent) = named(&asked.decorator);
        let observe = provider.observe();
        let step = self.step(&observe, of, is_absent, asked)?;
        let observe = observe.within(step.limit);
        let found = match is_absent {
            true => verify::present(&observe, &step.ask).await,
            false => verify::verify(&observe, &step.ask).await,
        };
        let failed = |_| self.refusal(&trouble);
        let block = observe.resource(of).map_err(failed)?;
        let found: Verified = found.map_err(failed)?;
        let acted = match (&found.status, is_absent) {
            (Status::Satisfied, false) => self.acted(block, found.object, None, None),
            (Status::Missing, true) => self.acted(block, None, None, None),
            _ => return Err(self.refusal(&trouble)),
        };
        acted.map_err(|_| self.refusal(&trouble))
    }

    /// Which object there is not.
    fn not_found(&self, of: &str, ask: &Ask) -> String {
        let by = match &ask.by {
            Chosen::Mark { .. } => format!("not found: {}", found_by(ask)),
            _ => "not found".to_owned(),
        };
        match self.recipes.hides_denied(of) {
            true => format!("{by}, or you may not read it"),
            false => by,
        }
    }
}

/// What an object is found by.
fn found_by(ask: &Ask) -> String {
    match &ask.by {
        Chosen::Mark { tag, .. } => format!("tag {TAG}={tag}"),
        Chosen::Adopt(id) | Chosen::Import { id, .. } => id.to_string(),
        Chosen::Replay(_) => "what the step describes".to_owned(),
    }
}

/// Whether an apply would delete what was found.
fn deletes(is_absent: bool, step: &Step, status: &Status) -> bool {
    match status {
        Status::Missing | Status::Blocked(_) => false,
        _ if is_absent => true,
        Status::Drifted { replace, .. } => step.replace && !replace.is_empty(),
        Status::Satisfied | Status::Rewrite => false,
    }
}

/// When an object was created, where one of its attributes says so.
fn created(state: &Value) -> Option<Secret> {
    const NAMES: [&str; 8] = [
        "create_date",
        "create_time",
        "created",
        "created_at",
        "created_date",
        "creation_date",
        "creation_time",
        "creation_timestamp",
    ];
    let found = NAMES.iter().find_map(|name| state.field(name).as_text());
    found.filter(|text| !text.is_empty()).map(Secret::new)
}

/// Waits for an answer, and no longer than this.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    timeout(limit, answer).await.unwrap_or_else(|_| Err(Trouble::timed_out(limit)))
}

/// What was done, for people: `created: vpc-0a1`.
fn done(done: &Done, object: Option<&Object>) -> Option<String> {
    let named = |what: &str| {
        let id = object.and_then(|object| {
            object
                .id()
                .map(str::to_owned)
                .or_else(|| object.shown_identity().map(|identity| identity.expose().to_owned()))
        });
        match id {
            Some(id) => format!("{what}: {id}"),
            None => what.to_owned(),
        }
    };
    Some(match done {
        Done::Nothing => return None,
        Done::Created => named("created"),
        Done::Replaced => named("replaced"),
        Done::Removed => "removed".to_owned(),
        Done::Changed(all) if all.is_empty() => named("sent again"),
        Done::Changed(_) => "changed".to_owned(),
    })
}

/// `aws_s3_bucket.absent` is the twin that removes.
fn named(decorator: &str) -> (&str, bool) {
    match decorator.strip_suffix(".absent") {
        Some(of) => (of, true),
        None => (decorator, false),
    }
}
