//! What a decorator is: everything about it that is known before it runs.
//!
//! A descriptor says what a decorator *can do*; which **roles** it plays follows from that and is
//! never written down, so that roles and abilities cannot disagree. Built-ins and plugins use the
//! same type. Descriptors live in static memory: the registry is ready without any work at
//! start-up, and a plugin's manifest, read once a process, is leaked into it.

mod provider;
mod role;

use crate::action::{Action, Sink, Source};
use crate::block_rules::BlockRules;
use crate::boundary::Boundary;
use crate::identified::Identified;
use crate::resolver::{Generator, Resolver};

pub use crate::resolver::{BLOCK_TEXT, SETTINGS};
use crate::resource::Verify;
use crate::shape::Shape;
use crate::types::Type;
use crate::value::Value;
pub use provider::{Expansion, Plugin};
pub use role::Role;

#[derive(Debug)]
pub struct Descriptor {
    /// `retry`, `file.read`: what follows the `@`.
    pub path: &'static str,
    /// One line, lower case, without a full stop.
    pub summary: &'static str,
    /// A paragraph or more, Markdown.
    pub docs: &'static str,
    /// Whether a name belongs to the path, as in `@env.HOME`.
    pub subject: Subject,
    pub params: &'static [Param],
    /// Of these optional parameters exactly one is given.
    pub one_of: &'static [&'static str],
    /// Of these optional parameters at least one is given.
    pub any_of: &'static [&'static str],
    /// Any further `NAME=value` is taken too, with this type (`@environ`).
    pub open_params: Option<Type>,
    pub returns: Option<Returns>,
    /// The parameter that, where it is true, makes the result any value (`json=true`). It means
    /// something only where a `let` captures the result.
    pub any_with: Option<&'static str>,
    pub block: Block,
    /// What holds for the text of its block.
    pub rules: Option<&'static dyn BlockRules>,
    /// The parameter whose first word is a program that must be there before the first step.
    pub program: Option<&'static str>,
    pub effect: Effect,
    pub cost: Cost,
    pub exposure: Exposure,
    /// All that is known about its result; none of built-in ones.
    pub result: Option<&'static crate::shape::Shape>,
    /// Whether it may follow `<`.
    pub reads: bool,
    /// Whether it may follow `>` and `>>`.
    pub writes: bool,
    /// Where its block runs, where that is another machine.
    pub boundary: Option<&'static dyn Boundary>,
    /// Which machine a value is read from.
    pub site: Site,
    /// Whether its arguments hold for what is in its block, or those of a block around it for it.
    pub settings: Settings,
    pub resource: Option<Resource>,
    /// Which arguments say what it is about, where not all calls do.
    pub identified: Option<&'static dyn Identified>,
    pub capabilities: &'static [Capability],
    /// How a value is read from the world.
    pub resolver: Option<&'static dyn Resolver>,
    /// How a value is made from the seed of a contract or a run.
    pub generator: Option<&'static dyn Generator>,
    /// What it does at run time.
    pub action: Option<&'static dyn Action>,
    /// What it does with output, where it [`Self::writes`].
    pub sink: Option<Sink>,
    /// What gives a step its input, where it [`Self::reads`].
    pub source: Option<&'static dyn Source>,
    /// Where it came from; none for built-ins.
    pub plugin: Option<&'static Plugin>,
    /// The function whose steps take the place of its call.
    pub expansion: Option<&'static Expansion>,
    /// Whether a contract may hold it: false where its value is another at every look.
    pub repeatable: bool,
    /// Whether reading it is known to change something: a plan that only verifies does not read it.
    pub acts_when_read: bool,
    /// It is there to fail: the steps after it in its block never run.
    pub fails: bool,
    /// It says itself what it does: a line about its start would say it twice.
    pub speaks: bool,
    pub examples: &'static [Example],
}

/// Arguments of a block that hold for what is inside it. The innermost block counts, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    None,
    /// It has such a block.
    Given,
    /// It gets those of the block with this path as its argument [`SETTINGS`].
    Inherited(&'static str),
}

/// The name that some paths end in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    None,
    /// `@env.NAME`; what the name names, for messages.
    Required(&'static str),
    /// `@secret.env.NAME`, or the parameter of this name instead.
    OrParam(&'static str),
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: &'static str,
    /// Another name that means the same.
    pub alias: Option<&'static str>,
    pub ty: Type,
    pub presence: Presence,
    /// Bounds of an Int, both inclusive.
    pub range: Option<(i64, i64)>,
    /// A regular expression that the whole of a String must match.
    pub pattern: Option<&'static str>,
    /// What to write instead, where the parameter goes away.
    pub deprecated: Option<&'static str>,
    /// The text is a shell command: a literal is compiled like a shell step.
    pub shell: bool,
    /// Its keys are names of environment variables.
    pub environment: bool,
    /// What is given to it is a secret, wherever it came from.
    pub secret: bool,
    /// What a manifest says beyond the type.
    pub shape: Option<&'static Shape>,
    /// Whether it takes secrets although its manifest does not mark it.
    pub takes_secrets: bool,
    pub docs: &'static str,
}

#[derive(Clone, Debug)]
pub enum Presence {
    Required,
    /// May be left out, and then nothing takes its place.
    Optional,
    Default(Value),
}

/// What comes back, as a schema with a version of its own.
#[derive(Debug)]
pub struct Returns {
    pub version: &'static str,
    pub ty: Type,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Forbidden,
    Optional,
    Required,
    /// Text that opal does not read: it is the argument [`BLOCK_TEXT`] of its step.
    Text,
}

/// Whether it only looks, at plan time, or acts, at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    Act,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Resolved in quick plans too.
    Cheap,
    /// Deferred in quick plans.
    Expensive,
}

/// How a value that it gives is shown; [`crate::Class::of`] decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// A declared secret, which nothing makes public.
    Secret,
    /// It may be anything, so it is a secret unless `public=true`.
    Resolved,
    /// A placeholder in plans and clear in runs, unless its name or its looks say secret, or the
    /// source says `public=true` or `secret=true`.
    Plain,
    /// The parts that its result marks are declared secrets; the others are plain.
    Marked,
    /// In clear.
    Public,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    Clock,
    Environment,
    FilesRead,
    FilesWrite,
    Network,
    Packages,
    Processes,
    Randomness,
    Services,
    Terminal,
    Users,
}

/// Which machine a value decorator reads inside a block that runs on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// Opal's own, wherever the block runs.
    Origin,
    /// The target. There it is expensive, whatever it is on opal's machine.
    Target,
    /// Only a target: outside a block that runs on one it makes no sense.
    Facts,
}

/// What makes a decorator describe a state of the world.
#[derive(Debug)]
pub struct Resource {
    /// Its step type in the YAML form.
    pub yaml: &'static str,
    /// The parameters that say which thing it is.
    pub key: &'static [&'static str],
    /// How it is verified; its action applies it.
    pub verify: &'static dyn Verify,
}

/// A piece of source that shows the decorator at work; it runs as a test.
#[derive(Debug)]
pub struct Example {
    pub title: &'static str,
    pub source: &'static str,
}

impl Descriptor {
    /// The starting point of every descriptor: an action without parameters, block or result.
    pub const BASE: Self = Self {
        path: "",
        summary: "",
        docs: "",
        subject: Subject::None,
        params: &[],
        one_of: &[],
        any_of: &[],
        open_params: None,
        returns: None,
        any_with: None,
        block: Block::Forbidden,
        rules: None,
        program: None,
        effect: Effect::Act,
        cost: Cost::Cheap,
        exposure: Exposure::Resolved,
        result: None,
        reads: false,
        writes: false,
        boundary: None,
        site: Site::Origin,
        settings: Settings::None,
        resource: None,
        identified: None,
        capabilities: &[],
        resolver: None,
        generator: None,
        action: None,
        sink: None,
        source: None,
        plugin: None,
        expansion: None,
        repeatable: true,
        acts_when_read: false,
        fails: false,
        speaks: false,
        examples: &[],
    };

    /// Whether any name that it is given is a variable of the environment of its block.
    #[must_use]
    pub fn sets_variables(&self) -> bool {
        self.open_params.is_some() && self.capabilities.contains(&Capability::Environment)
    }

    /// Whether it gives a value at plan time, for `var`, expressions and text.
    #[must_use]
    pub fn is_value(&self) -> bool {
        self.returns.is_some() && self.effect == Effect::Read
    }

    /// Whether a statement made of it does something at run time.
    #[must_use]
    pub fn is_action(&self) -> bool {
        self.effect == Effect::Act
    }

    /// Whether it is a step type of configurations, which have neither blocks nor targets.
    #[must_use]
    pub fn is_step_type(&self) -> bool {
        let is_alone = self.block == Block::Forbidden && self.site != Site::Facts;
        self.resource.is_some() && is_alone
    }

    /// What an argument is where nobody gives it, by the names of the parameters.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        self.params.iter().filter_map(|param| match &param.presence {
            Presence::Default(value) => Some((param.name, value)),
            Presence::Required | Presence::Optional => None,
        })
    }

    /// The parameter called `name`, by its name or its alias.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name || param.alias == Some(name))
    }
}

impl Param {
    /// The starting point of every parameter: a required String.
    pub const BASE: Self = Self {
        name: "",
        alias: None,
        ty: Type::String,
        presence: Presence::Required,
        range: None,
        pattern: None,
        deprecated: None,
        shell: false,
        environment: false,
        secret: false,
        shape: None,
        takes_secrets: false,
        docs: "",
    };

    /// A String that must be given.
    #[must_use]
    pub const fn required(name: &'static str, docs: &'static str) -> Self {
        Self { name, docs, ..Self::BASE }
    }

    /// A String that may be given.
    #[must_use]
    pub const fn optional(name: &'static str, docs: &'static str) -> Self {
        Self { name, docs, presence: Presence::Optional, ..Self::BASE }
    }

    /// A Bool that is false unless it is given.
    #[must_use]
    pub const fn flag(name: &'static str, docs: &'static str) -> Self {
        let presence = Presence::Default(Value::Bool(false));
        Self { name, docs, ty: Type::Bool, presence, ..Self::BASE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_decorator_may_play_several_roles() {
        let object = Descriptor {
            path: "store.object",
            returns: Some(Returns { version: "1.0.0", ty: Type::String }),
            effect: Effect::Read,
            writes: true,
            ..Descriptor::BASE
        };
        assert_eq!(object.roles(), [Role::Value, Role::Endpoint]);
    }

    #[test]
    fn what_acts_and_returns_is_not_a_value_of_the_plan() {
        let action = Descriptor {
            returns: Some(Returns { version: "1.0.0", ty: Type::String }),
            ..Descriptor::BASE
        };
        assert_eq!(action.roles(), []);
    }
}
