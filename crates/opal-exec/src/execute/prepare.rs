//! What must hold before anything runs.

use opal_core::class::{is_common, shape};
use opal_core::plan::{Arg, Key, Mode, Plan, RedirectStream, RedirectTarget, Step};
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_core::showing::Hidden;
use opal_core::unready::Unready;
use opal_core::{Code, Data, Secret, Showing, message};

use super::job::Job;
use super::resume::{From, begins};
use super::roster;
use super::steps::reader;
use super::values::{Values, is_open};
use crate::error::StepError;
use opal_core::shell;
use opal_core::shell::syntax::Fault;
use opal_vault::Vault;

/// A question that is asked before the first step.
#[derive(Clone, Debug)]
pub struct Question {
    /// The path of its step.
    pub path: String,
    pub message: Secret,
}

/// Hides every secret of a plan, and every secret that was read for it.
///
/// Of a text that is put together of constants and secrets only the secrets are hidden: of
/// `"deploying to " + env.API_KEY` the reader may see the first words.
pub fn register(vault: &Vault, showing: &Showing) {
    let is_text = |key: &Key| showing.visible.contains_key(key);
    // A value is in it as the plan has it, `env.A(secret=true)`, and as it was read, `env.A`. The
    // first one gives it its placeholder: that of the plan, so that a reader can tell what it is.
    let all = showing.hidden.iter().rev();
    let (texts, secrets): (Vec<_>, Vec<_>) = all.partition(|(key, _)| is_text(key));
    for (_, hidden) in secrets {
        hide(vault, hidden, &hidden.data, &hidden.label);
        for password in hidden.data.as_text().map(own_passwords).unwrap_or_default() {
            hide(vault, hidden, &Data::Text(password), &hidden.label);
        }
    }
    for (_, hidden) in texts {
        // A plain value in it may be a secret elsewhere.
        let label = vault.scrub(&hidden.label);
        hide(vault, hidden, &hidden.data, &label.text());
    }
}

fn hide(vault: &Vault, hidden: &Hidden, data: &Data, label: &str) {
    match (&hidden.target, &hidden.member) {
        // Planning has counted them. Of what is too much, all is hidden everywhere.
        (Some(target), _) => drop(vault.register_on(target, data, label)),
        (None, Some(member)) => vault.register_of(member, data, label),
        (None, None) => vault.register(data, label),
    }
}

/// Hides every value of a plan that is not public: for what is reported next to a plan or a
/// contract, where plain values are placeholders too.
pub fn register_planned(vault: &Vault, plan: &Plan, showing: &Showing) {
    register(vault, showing);
    let reads = plan.reads.iter().filter_map(|read| Some((&read.key, read.placeholder.as_ref()?)));
    let values = plan.values.iter().map(|(key, value)| (key, &value.placeholder));
    for (key, placeholder) in reads.chain(values) {
        let visible = showing.visible.get(key).filter(|_| !showing.hidden.contains_key(key));
        if let Some(value) = visible {
            vault.register(&Data::from(value), &placeholder.to_string());
        }
    }
}

/// The passwords of URLs, which a program may print without the rest; not those that are also
/// written elsewhere in the URL, or are common words.
fn own_passwords(text: &str) -> Vec<Secret> {
    let places = shape::passwords(text).into_iter();
    let own = places.filter(|at| {
        let (password, rest) = (&text[at.clone()], [&text[..at.start], &text[at.end..]]);
        !is_common(password) && !rest.iter().any(|part| part.contains(password))
    });
    own.flat_map(|at| {
        let raw = &text[at];
        let decoded = decode(raw).filter(|decoded| decoded != raw);
        [Some(Secret::new(raw)), decoded.map(Secret::new)].into_iter().flatten()
    })
    .collect()
}

/// Without the `%` codes of a URL.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = rest
            .get(1..3)
            .filter(|_| *byte == b'%')
            .and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &rest[3..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// What `@confirm` asks, in the order of the plan, where it is not skipped.
pub fn questions(job: &Job<'_>) -> Result<Vec<Question>, Unready> {
    let from = From::new(job.plan, job.from);
    let mut questions = Vec::new();
    ask(&job.plan.steps, &from, Values::before(job.values), &mut questions)?;
    Ok(questions)
}

fn ask(
    steps: &[Step],
    from: &From<'_>,
    values: Values<'_>,
    questions: &mut Vec<Question>,
) -> Result<(), Unready> {
    for step in steps.iter().filter(|step| !from.skips(step)) {
        if step.node.is_decorator("confirm")
            && let Some(message) = step.arg("message")
        {
            match values.data(message) {
                Ok(Data::Text(message)) => {
                    questions.push(Question { path: step.path.to_string(), message });
                }
                Ok(_) => {
                    return Err(Unready::invalid(
                        step,
                        "a question must be text",
                        "write it in quotes",
                    ));
                }
                Err(trouble) => return Err(Unready::of_step(step, trouble)),
            }
        }
        let values = values.inside(step);
        ask(&step.block, from, values, questions)?;
    }
    Ok(())
}

/// Checks everything that can be checked without running anything.
pub fn prepare(job: &Job<'_>) -> Result<(), Vec<Unready>> {
    let mut found = Vec::new();
    if job.plan.mode == Mode::Quick {
        return Err(vec![Unready::of_plan(StepError::QuickPlan.into())]);
    }
    for step in job.plan.all_steps() {
        found.extend(able(job, step));
    }
    find_values(job, &job.plan.steps, Values::before(job.values), &mut found);
    found.extend(programs(job));
    found.extend(syntax(job));
    if let Some(path) = job.from {
        found.extend(begins(&job.plan.steps, Values::before(job.values), path));
    }
    found.extend(roster::unready(job.plan, job.values, job.earlier));
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Steps without a value that they take. Of a fleet, the first target is as good as any.
fn find_values(job: &Job<'_>, steps: &[Step], values: Values<'_>, found: &mut Vec<Unready>) {
    for step in steps {
        if !job.passes_over(step)
            && let Err(trouble) = has_values(step, values)
        {
            found.push(Unready::of_step(step, trouble));
        }
        let values = values.inside(step);
        find_values(job, &step.block, values, found);
    }
}

/// Whether there is something that does what the step says.
fn able(job: &Job<'_>, step: &Step) -> Vec<Unready> {
    let mut found = Vec::new();
    if let Some(path) = step.node.path() {
        let message = format!("this version of opal cannot run `@{path}`");
        let help = "remove the step, or write its commands as shell steps";
        let not_yet = Unready::invalid(step, message, help);
        match job.registry.get(path) {
            Some(descriptor) if descriptor.action.is_some() => {}
            _ => found.push(not_yet),
        }
    }
    for redirect in &step.redirects {
        let RedirectTarget::Step(target) = &redirect.target else { continue };
        let name = &target.node;
        let descriptor = name.path().and_then(|path| job.registry.get(path));
        let works = match redirect.operator.stream() {
            Some((RedirectStream::In, _)) => {
                reader(target).is_some() || descriptor.is_some_and(|it| it.source.is_some())
            }
            Some(_) => descriptor.is_some_and(|found| found.sink.is_some()),
            None => false,
        };
        if !works {
            let operator = &redirect.operator;
            let message = format!("`{operator} {name}` cannot be run");
            let help = "expected `> @file.write(…)`, `2> @file.write(…)` or `< @file.read(…)`";
            found.push(Unready::invalid(step, message, help));
        }
    }
    found
}

/// Programs that steps name in an argument and that are not there.
fn programs(job: &Job<'_>) -> Vec<Unready> {
    let from = From::new(job.plan, job.from);
    let mut found = Vec::new();
    find_programs(job, &job.plan.steps, &from, &mut found);
    found
}

fn find_programs(job: &Job<'_>, steps: &[Step], from: &From<'_>, found: &mut Vec<Unready>) {
    for step in steps.iter().filter(|step| !from.skips(step)) {
        // With another `PATH` it may be somewhere else; on a target it is another program.
        let sets_path = step.node.is_decorator("environ") && step.arg("PATH").is_some();
        if !sets_path && step.first_target().is_none() {
            find_programs(job, &step.block, from, found);
            found.extend(missing_program(job, step));
        }
    }
}

fn missing_program(job: &Job<'_>, step: &Step) -> Option<Unready> {
    let name = step.node.path().and_then(|path| job.registry.get(path))?.program?;
    let values = Values::before(job.values);
    let known = |name: &str| step.arg(name).filter(|arg| !is_open(arg));
    let Ok(Data::Text(program)) = values.data(known(name)?) else { return None };
    let has_path = match known("env").map(|arg| values.data(arg)) {
        Some(Ok(Data::Map(variables))) => variables.contains_key("PATH"),
        _ => false,
    };
    let program = program.expose().split_ascii_whitespace().next()?;
    // A relative path begins where the step is, and only the run gets there.
    let is_relative = program.contains('/') && !program.starts_with('/');
    if has_path || is_relative || job.session.finds(program) {
        return None;
    }
    let message = message!("the program `", program, "` is not installed, or not in `PATH`");
    let help = "install it, or add its directory to `PATH`; nothing has run";
    let unready = Unready::invalid(step, message, help);
    Some(Unready { code: Code::ProgramNotFound, ..unready })
}

/// Whether every value that a step takes is there.
fn has_values(step: &Step, values: Values<'_>) -> Result<(), Trouble> {
    if step.is_construct() {
        return Ok(());
    }
    for (_, arg) in &step.args {
        match arg {
            Arg::Shell(pieces) => drop(values.script(pieces)?),
            arg => drop(values.data(arg)?),
        }
    }
    for redirect in &step.redirects {
        match &redirect.target {
            RedirectTarget::Shell(pieces) => drop(values.script(pieces)?),
            RedirectTarget::Step(target) => {
                target.args.iter().try_for_each(|(_, arg)| values.data(arg).map(drop))?;
            }
        }
    }
    Ok(())
}

/// Every text that the parser of the session's shell rejects.
fn syntax(job: &Job<'_>) -> Vec<Unready> {
    let texts = shell::texts(job.plan);
    let scripts: Vec<&[ScriptPart]> = texts.iter().map(|text| text.parts.as_slice()).collect();
    if scripts.is_empty() {
        return Vec::new();
    }
    let faults = match job.session.check(&scripts, job.stop) {
        Ok(faults) => faults,
        Err(trouble) => return vec![Unready::of_plan(trouble)],
    };
    let say = |fault: Fault| {
        let text = texts.get(fault.text)?;
        let help = "fix the command; nothing has run";
        Some(Unready {
            path: text.path.to_owned(),
            span: text.span,
            line: fault.line,
            code: Code::ShellSyntax,
            trouble: Trouble::new(TroubleKind::Invalid, fault.message, help),
        })
    };
    faults.into_iter().filter_map(say).collect()
}
