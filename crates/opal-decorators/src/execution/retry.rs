use opal_core::action::{Action, Conditions, Halt, Level, Pause, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::Inputs;
use opal_core::types::Choices;
use opal_core::{Data, Duration, Secret, Type, Value};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "retry",
    summary: "run a block again when it fails",
    docs: "Runs the whole block until it succeeds, at most `attempts` times; the failure of the \
           last attempt is the failure of the step. Every attempt starts in the same directory \
           and with fresh `let` bindings, but changes that an earlier attempt made persist, so \
           the steps should be repeatable.\n\nBetween attempts there is a pause. With `delay=1s` \
           it lasts 1s, 2s, 4s, 8s (`exponential`), 1s, 2s, 3s, 4s (`linear`) or always 1s \
           (`constant`), and never longer than `max_delay`.\n\nA step that is lost with the \
           connection to its target may have done its work or not. A direct run repeats it as it \
           repeats other failures. A run of a contract repeats it only with `lost=\"retry\"`.",
    params: &[
        Param {
            name: "attempts",
            alias: Some("times"),
            ty: Type::Int,
            presence: Presence::Default(Value::Int(3)),
            range: Some((1, 100)),
            docs: "the maximum number of attempts, including the first",
            ..Param::BASE
        },
        Param {
            name: "delay",
            ty: Type::Duration,
            presence: Presence::Default(Value::Duration(Duration::from_secs(1))),
            docs: "the pause after the first failure",
            ..Param::BASE
        },
        Param {
            name: "strategy",
            ty: Type::OneOf(Choices::Static(&["exponential", "linear", "constant"])),
            presence: Presence::Default(Value::text("exponential")),
            docs: "how the pause grows from one failure to the next",
            ..Param::BASE
        },
        Param {
            name: "max_delay",
            ty: Type::Duration,
            presence: Presence::Optional,
            docs: "the longest pause; unlimited by default",
            ..Param::BASE
        },
        Param::flag(
            "jitter",
            "shorten each pause by a random part, at most half of it, so that many machines do \
                   not retry at the same moment",
        ),
        Param {
            name: "lost",
            ty: Type::OneOf(Choices::Static(&["retry", "fail"])),
            presence: Presence::Optional,
            docs: "whether the block runs again when a step was lost with the connection to its \
                   target; by default `retry` in a direct run and `fail` under contract",
            ..Param::BASE
        },
    ],
    block: Block::Required,
    capabilities: &[Capability::Clock, Capability::Randomness],
    examples: &[
        Example {
            title: "wait until a service answers",
            source: "fun wait() {\n    @retry(10, delay=2s, strategy=\"constant\") {\n        \
                     curl -f https://example.com/health\n    }\n}\n",
        },
        Example {
            title: "retry less often on a busy server",
            source: "fun pull() {\n    \
                     @retry(attempts=5, max_delay=30s, jitter=true) {\n        \
                     docker pull registry.example.com/app\n    }\n}\n",
        },
        Example {
            title: "repeat a step even if the connection was lost under contract",
            source: "fun sync() {\n    @retry(lost=\"retry\") {\n        \
                     @ssh.host(\"web1\") {\n            rsync -a /srv/new/ /srv/app/\n        \
                     }\n    }\n}\n",
        },
    ],
    action: Some(&Retry),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Retry;

impl Action for Retry {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let of = match inputs.data("attempts") {
            Some(Data::Int(attempts)) => u32::try_from(*attempts).unwrap_or(1).max(1),
            _ => 1,
        };
        let mut attempt = 1;
        loop {
            let under = Conditions { attempt: Some((attempt, of)), ..Conditions::default() };
            let failure = match stage.block(&under) {
                Ok(()) => return Ok(Data::Null),
                Err(Halt::Failed(failure)) if attempt < of => failure,
                Err(halt) => return Err(halt),
            };
            if failure.has_lost && !repeats_lost(inputs, stage)? {
                return Err(Halt::Failed(failure));
            }
            let random = if inputs.is_true("jitter") { stage.random() } else { 0 };
            let duration = pause(inputs, attempt, random);
            stage.pause(&Pause { duration, attempt, of, code: failure.code })?;
            attempt += 1;
        }
    }
}

/// Whether a block with a lost step runs again. Says why where the source does not.
fn repeats_lost(inputs: &Inputs, stage: &mut dyn Stage) -> Result<bool, Halt> {
    match inputs.text("lost") {
        Some(lost) => Ok(lost == "retry"),
        None if stage.is_under_contract() => {
            stage.log(Level::Warn, &Secret::new(NOT_REPEATED))?;
            Ok(false)
        }
        None => Ok(true),
    }
}

const NOT_REPEATED: &str = "a step was lost, and nobody knows whether it did its work: under contract \
                            it is repeated only with `@retry(lost=\"retry\")`";

/// The time after the attempt of this number. `random` takes up to half of it away.
fn pause(inputs: &Inputs, attempt: u32, random: u64) -> Duration {
    let nanos = |name| match inputs.data(name) {
        Some(Data::Duration(duration)) => Some(duration.as_nanos().max(0)),
        _ => None,
    };
    let delay = nanos("delay").unwrap_or(0);
    let grown = match inputs.text("strategy") {
        Some("constant") => delay,
        Some("linear") => delay.saturating_mul(i64::from(attempt)),
        _ => delay.saturating_mul(2_i64.saturating_pow(attempt - 1)),
    };
    let whole = grown.min(nanos("max_delay").unwrap_or(i64::MAX));
    let part = (i128::from(whole / 2) * i128::from(random)) >> u64::BITS;
    Duration::from_nanos(whole - i64::try_from(part).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use opal_core::resolver::Input;

    use super::*;

    fn seconds(strategy: &str, max: Option<i64>, attempt: u32, random: u64) -> i64 {
        let mut inputs = Inputs::default();
        let mut give = |name, data| drop(inputs.args.insert(name, Input::Data(data)));
        give("delay", Data::Duration(Duration::from_secs(4)));
        give("strategy", Data::text(strategy));
        if let Some(max) = max {
            give("max_delay", Data::Duration(Duration::from_secs(max)));
        }
        pause(&inputs, attempt, random).as_nanos() / 1_000_000_000
    }

    #[test]
    fn the_pause_grows_as_its_strategy_says_and_no_further_than_its_bound() {
        assert_eq!([1, 2, 3, 4].map(|n| seconds("exponential", None, n, 0)), [4, 8, 16, 32]);
        assert_eq!([1, 2, 3, 4].map(|n| seconds("linear", None, n, 0)), [4, 8, 12, 16]);
        assert_eq!([1, 2, 3, 4].map(|n| seconds("constant", None, n, 0)), [4, 4, 4, 4]);
        assert_eq!([1, 2, 3, 100].map(|n| seconds("exponential", Some(10), n, 0)), [4, 8, 10, 10]);
        assert!(seconds("exponential", None, 100, 0) > 0);
    }

    #[test]
    fn chance_takes_at_most_half_of_a_pause_away() {
        assert_eq!(seconds("constant", None, 1, u64::MAX), 2);
        assert_eq!(seconds("constant", None, 1, u64::MAX / 2), 3);
    }
}
