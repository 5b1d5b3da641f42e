use opal_core::action::{Action, Conditions, Halt, Limits, Stage};
use opal_core::decorator::{Block, Capability, Descriptor, Example, Param, Presence};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::{Data, Duration, Type};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "limits",
    summary: "limit the resources of the processes of a block",
    docs: "Sets limits for every process that the steps of the block start, with or without a \
           shell. An omitted limit is not set. Inside another `@limits` the smaller of the two \
           applies.\n\n- `memory`: the memory of each process. Requests beyond it fail, and most \
           programs then end with a message such as `cannot allocate memory`.\n- `processes`: how \
           many processes and threads may exist at a time. Starting one more fails with `Resource \
           temporarily unavailable`.\n- `cpu`: the CPU time of each process; `@timeout` limits \
           elapsed time. A process that exceeds it gets the signal `XCPU`, and the step fails \
           with exit code 152.\n\nA step that fails inside names the limits that it ran under. \
           The system enforces `memory` and `cpu` for each process (`RLIMIT_DATA` on Linux, \
           `RLIMIT_AS` elsewhere, `RLIMIT_CPU`), so a block of ten processes can use ten times as \
           much. `processes` adds to the processes that the user has when the step starts \
           (`RLIMIT_NPROC`); root is not subject to that, and gets a separate cgroup for the \
           step. If no cgroup is available, the step fails before it starts.",
    any_of: &["memory", "processes", "cpu"],
    params: &[
        Param {
            name: "memory",
            ty: Type::Any,
            presence: Presence::Optional,
            pattern: Some("[1-9][0-9]{0,11}[KMGT]?"),
            docs: "the limit as an Int of bytes, or as a text such as `\"512M\"` (K, M, G, T: \
                powers of 1024)",
            ..Param::BASE
        },
        Param {
            name: "processes",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((1, 1_000_000)),
            docs: "the maximum number of processes and threads at a time",
            ..Param::BASE
        },
        Param {
            name: "cpu",
            ty: Type::Duration,
            presence: Presence::Optional,
            docs: "the CPU time of each process, in whole seconds, rounded up",
            ..Param::BASE
        },
    ],
    block: Block::Required,
    capabilities: &[Capability::Processes],
    examples: &[
        Example {
            title: "tests that cannot exhaust the machine",
            source: "fun test() {\n    @limits(memory=\"2G\", processes=200, cpu=10m) {\n        \
                     cargo test\n    }\n}\n",
        },
        Example {
            title: "a converter for untrusted files",
            source: "fun thumbnail(file: String) {\n    @limits(memory=\"512M\", cpu=30s) {\n        \
                     convert -- @var.file -resize 200x200 thumbnail.png\n    }\n}\n",
        },
    ],
    action: Some(&Limited),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Limited;

impl Action for Limited {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let limits = limits(inputs).map_err(|trouble| stage.fail(1, trouble))?;
        stage.block(&Conditions { limits, ..Conditions::default() }).map(|()| Data::Null)
    }
}

fn limits(inputs: &Inputs) -> Result<Limits, Trouble> {
    let memory = match inputs.data("memory") {
        None | Some(Data::Null) => None,
        Some(Data::Int(bytes)) => Some(u64::try_from(*bytes).ok().filter(|it| *it > 0)),
        Some(Data::Text(text)) => Some(size(text.expose())),
        Some(_) => Some(None),
    };
    let memory = memory.map(|bytes| bytes.ok_or_else(no_size)).transpose()?;
    let processes = match inputs.data("processes") {
        Some(Data::Int(count)) => u64::try_from(*count).ok(),
        _ => None,
    };
    let cpu = match inputs.data("cpu") {
        Some(Data::Duration(time)) => Some(seconds(*time).ok_or_else(no_time)?),
        _ => None,
    };
    Ok(Limits { memory, processes, cpu })
}

/// `512M` in bytes.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    let number: u64 = digits.parse().ok().filter(|number| *number > 0)?;
    number.checked_mul(1 << shift)
}

/// Whole ones, rounded up: the system knows no others.
fn seconds(time: Duration) -> Option<u64> {
    let nanos = u64::try_from(time.as_nanos()).ok().filter(|nanos| *nanos > 0)?;
    Some(nanos.div_ceil(1_000_000_000))
}

fn no_size() -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        "`memory` expects a number of bytes or a size",
        "write it as `memory=\"512M\"` or as an Int of bytes",
    )
}

fn no_time() -> Trouble {
    Trouble::new(TroubleKind::Invalid, "`cpu` must be longer than zero", "write it as `cpu=30s`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_powers_of_1024() {
        for (text, bytes) in [
            ("1", Some(1)),
            ("64K", Some(64 << 10)),
            ("512M", Some(512 << 20)),
            ("2G", Some(2 << 30)),
            ("1T", Some(1 << 40)),
            ("0", None),
            ("M", None),
            ("1MM", None),
            ("1KM", None),
            ("-1M", None),
            ("1.5G", None),
            ("99999999999T", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }

    #[test]
    fn limits_only_tighten_and_are_reported_as_they_are_written() {
        let outer = Limits { memory: Some(1 << 30), processes: None, cpu: Some(10) };
        let inner = Limits { memory: Some(2 << 30), processes: Some(5), cpu: Some(90) };
        let both = outer.tightened(inner);
        assert_eq!(both, inner.tightened(outer));
        assert_eq!(both.to_string(), "@limits(memory=\"1G\", processes=5, cpu=10s)");
        assert_eq!(
            Limits { memory: Some(1000), ..both }.to_string()[..20],
            *"@limits(memory=1000,"
        );
    }
}
