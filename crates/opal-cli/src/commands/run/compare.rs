//! What a contract is compared with, from the command line.

use opal_core::Diagnostic;
use opal_core::contract::Contract;
use opal_core::plan::Plan;
use opal_ops::contract::{Compared, News, Now, Part, Undecided};
use opal_ops::planning::Subject;
use opal_ops::resources::Place;
use opal_ops::source::Loaded;
use opal_session::world::OsWorld;
use opal_vault::root::Root;

use crate::checked_file::CheckedFile;
use crate::commands::command_line;
use crate::context::Context;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::PlanOptions;
use crate::planning::{self, CUT_OFF};
use crate::signals::Watched;
use crate::view;
use crate::view::plan::Comparison;

/// This machine, and the source that the contract is of.
pub(crate) struct Here<'h> {
    context: &'h Context<'h>,
    options: &'h PlanOptions,
    pub(super) source: &'h Loaded,
    world: OsWorld,
    place: Place<'h>,
    pub(crate) root: Option<Root>,
    watched: &'h Watched,
    /// What is typed to see how its resources differ.
    look: String,
}

impl<'h> Here<'h> {
    /// `planned` is the plan of the contract.
    pub(crate) fn new(
        context: &'h Context<'h>,
        options: &'h PlanOptions,
        source: &'h Loaded,
        planned: &Plan,
        watched: &'h Watched,
    ) -> Result<Self, Failure> {
        let subject = Subject::of_plan(source, planned);
        Ok(Self {
            context,
            options,
            source,
            world: planning::world(&subject, context, options)?.stopped_by(watched.stop()),
            place: planning::place(&subject, context, options)?,
            root: context.root(options.root.as_ref()),
            watched,
            look: command_line::verify(context, &subject),
        })
    }

    pub(crate) fn now(&self) -> Now<'_> {
        Now {
            source: self.source,
            registry: &self.context.registry,
            probe: &self.world,
            place: &self.place,
            root: self.root.as_ref(),
            stop: self.watched.stop(),
            limit: self.options.limit.as_deref(),
        }
    }

    pub(crate) fn tell(&self, news: News<'_>) {
        match news {
            News::Elsewhere(errors, subject) => planning::elsewhere(subject, self.context, errors),
            News::Planned(resolved) => {
                self.context.stages.end("plan");
                view::trace::source(self.source, self.options);
                view::trace::plan(&resolved.plan, self.options);
            }
            News::InterruptedRun => view::plan::note(
                "resources have changed, perhaps by an earlier run of this contract, which was \
                 cut off before it could verify them",
            ),
        }
    }

    /// The source with what was found in it.
    pub(crate) fn found(&self, errors: &[Diagnostic]) -> Vec<CheckedFile> {
        CheckedFile::of(self.source, errors.to_vec())
    }

    /// `new_contract` is the command that makes a new contract.
    pub(crate) fn comparison<'c>(
        &'c self,
        contract: &'c Contract,
        compared: &'c Compared,
        new_contract: Option<&'c str>,
    ) -> Comparison<'c> {
        Comparison {
            before: contract.plan(),
            after: &compared.fresh.plan,
            verdict: &compared.verdict,
            names: ["contract", "now"],
            new_contract,
            look: Some(&self.look),
            registry: &self.context.registry,
            source: Some(self.source),
            changed_files: self.source.changed(contract),
            is_older: contract.is_older(),
            is_quick: false,
            beside: &[],
        }
    }
}

/// How a command ends that could not find out whether a contract may run.
pub(crate) fn undecided(why: Undecided, watched: &Watched) -> Result<Exit, Failure> {
    let what = match why {
        Undecided::Key(error) => return Err(Failure::key(error)),
        Undecided::Unready(trouble) => return Err(Failure::unready(trouble)),
        Undecided::CutOff(Part::Planning) => CUT_OFF,
        Undecided::CutOff(Part::Resources) => "the verification of its resources was cut off",
    };
    watched.cut_off(what).map_or(Ok(Exit::Source), Stopped::outcome)
}
