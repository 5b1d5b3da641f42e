//! The secrets of one call. A plugin has numbers; opal has the texts.

use opal_core::class::{Class, Flags};
use opal_core::data::{Data, Secret};
use opal_core::decorator::Exposure;
use opal_core::protocol::request::Part;
use opal_core::protocol::{Kind, Refusal};
use opal_core::wiped::Wiped;
use opal_vault::Vault;

#[derive(Clone, Debug, Default)]
pub struct Handles {
    all: Vec<Held>,
    /// What is hidden in all that the call says: the secrets that it was given, read or sent.
    hidden: Vec<Secret>,
    /// What is hidden in what the call is answered: those that it read or sent. What it was given and did not
    /// send, it may compare with what is there.
    passed: Vec<Secret>,
    /// Whether the step lets its secrets go to programs of a target.
    pub(crate) may_leave: bool,
}

#[derive(Clone, Debug)]
struct Held {
    secret: Secret,
    /// Whether it was read where the call acts: then programs there may have it.
    is_of_site: bool,
}

/// Handles of one call.
const MOST: usize = 10_000;

impl Handles {
    /// The secrets among the arguments, in the order of their handles.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let hidden: Vec<Secret> = secrets.into_iter().collect();
        let held = |secret: &Secret| Held { secret: secret.clone(), is_of_site: false };
        let all = hidden.iter().map(held).collect();
        Self { all, hidden, ..Self::default() }
    }

    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.all.len()).unwrap_or(u32::MAX)
    }

    /// Their texts, for what is called later.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.all.iter().map(|held| &held.secret)
    }

    /// A variable that was read where the call acts. It is hidden if its name or its value says so.
    pub(crate) fn add(&mut self, name: &str, secret: Secret) -> Result<u32, Refusal> {
        let value = Data::Text(secret.clone());
        if Class::of(Exposure::Plain, Flags::default(), Some(name), Some(&value)).is_secret() {
            self.hide(&secret);
        }
        if self.all.len() >= MOST {
            return Err(Refusal::new(Kind::TooLarge, "a call has at most 10,000 secrets"));
        }
        self.all.push(Held { secret, is_of_site: true });
        Ok(self.count() - 1)
    }

    /// A handle that this call has; one of another call is denied.
    pub(crate) fn get(&self, handle: u32) -> Result<&Secret, Refusal> {
        self.held(handle).map(|held| &held.secret)
    }

    fn held(&self, handle: u32) -> Result<&Held, Refusal> {
        let held = usize::try_from(handle).ok().and_then(|index| self.all.get(index));
        held.ok_or_else(|| Refusal::new(Kind::Denied, "this call does not have this secret"))
    }

    /// Parts as one text. A program on a target gets only what was read there, or what the step lets go.
    pub(crate) fn text(&mut self, parts: &[Part], is_target: bool) -> Result<Secret, Refusal> {
        let mut text = Wiped::new(String::new());
        for part in parts {
            match part {
                Part::Text(more) => text.push_str(more.expose()),
                Part::Secret(handle) => {
                    let held = self.held(*handle)?;
                    if is_target && !held.is_of_site && !self.may_leave {
                        let message = "a secret of opal's machine does not go to a target, unless the step \
                                       says `to_target=true`";
                        return Err(Refusal::new(Kind::Denied, message));
                    }
                    text.push_str(held.secret.expose());
                    let secret = held.secret.clone();
                    self.hide(&secret);
                }
            }
        }
        Ok(Secret::new(text.as_str()))
    }

    /// From now on it is hidden in answers too.
    fn hide(&mut self, secret: &Secret) {
        self.hidden.push(secret.clone());
        self.passed.push(secret.clone());
    }

    /// What the call says, without any of its secrets.
    pub(crate) fn masked_text(&self, text: &Secret) -> Secret {
        match self.hidden.is_empty() {
            true => text.clone(),
            false => {
                let masked = masked(&self.hidden, text.expose().as_bytes());
                Secret::new(String::from_utf8_lossy(&masked))
            }
        }
    }

    /// An answer without what the call read or sent.
    pub(crate) fn masked(&self, bytes: &[u8]) -> Wiped<Vec<u8>> {
        masked(&self.passed, bytes)
    }
}

/// Without secrets, in all forms that the scrubber knows.
fn masked(secrets: &[Secret], bytes: &[u8]) -> Wiped<Vec<u8>> {
    if secrets.is_empty() {
        return Wiped::new(bytes.to_vec());
    }
    let vault = Vault::new();
    for secret in secrets {
        vault.register(&Data::Text(secret.clone()), "secret");
    }
    Wiped::new(vault.scrub_bytes(bytes).bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_goes_to_a_target_only_if_it_is_from_there_or_the_step_says_so() {
        let mut handles = Handles::new([Secret::new("of the step")]);
        let read = handles.add("NAME", Secret::new("of the target")).unwrap();
        let given = |handles: &mut Handles, handle, is_target| {
            handles.text(&[Part::Secret(handle)], is_target).map(|text| text.expose().to_owned())
        };
        assert_eq!(given(&mut handles, 0, false).unwrap(), "of the step");
        assert_eq!(given(&mut handles, read, true).unwrap(), "of the target");
        let refused = given(&mut handles, 0, true).unwrap_err();
        assert!(refused.message.expose().contains("to_target=true"));
        handles.may_leave = true;
        assert_eq!(given(&mut handles, 0, true).unwrap(), "of the step");
    }
}
