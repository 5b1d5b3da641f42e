//! Signals to opal while it runs something, and what a dump of its memory would show.
//!
//! SIGPIPE is ignored by every Rust program, and given back its meaning in the ones it starts.
//! Signals that were ignored when opal started stay so: `nohup opal deploy` outlives its terminal.

use std::fs::File;
use std::io::Read;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use opal_core::action::Why;
use opal_session::stop::{Stop, USUAL_GRACE};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::failure::{Exit, Failure, Stopped};

/// Signals that end a run.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A terminal and a program around opal may both pass on the same Ctrl+C.
const ONE_SIGNAL: Duration = Duration::from_millis(100);

/// The first signal asks the run to end, the second kills it.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    stop: Stop,
    first: Mutex<Option<Instant>>,
}

impl Interrupts {
    pub(crate) fn new(stop: Stop) -> Self {
        Self(Arc::new(Inner { stop, first: Mutex::new(None) }))
    }

    /// A signal came, or the key that means it.
    pub(crate) fn heard(&self, signal: i32) {
        self.heard_at(signal, Instant::now());
    }

    fn heard_at(&self, signal: i32, now: Instant) {
        let mut first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
        match *first {
            None => {
                *first = Some(now);
                self.0.stop.ask(Why::Signal(signal));
                explain_the_wait(self.0.stop.grace());
            }
            // A terminal that goes away may be told by the system and by the shell; nobody means
            // more by the second than by the first.
            Some(_) if signal == SIGHUP => {}
            Some(then) if now.saturating_duration_since(then) < ONE_SIGNAL => {}
            Some(_) => self.0.stop.kill(),
        }
    }
}

/// Silence after Ctrl+C makes people wonder. Whatever ends within a moment ends without a word.
fn explain_the_wait(grace: Duration) {
    const MOMENT: Duration = Duration::from_secs(2);
    let wait = move || {
        std::thread::sleep(MOMENT);
        let most = match grace.as_secs() {
            seconds if seconds < 60 => format!("{seconds} seconds"),
            seconds => format!("{} minutes", seconds / 60),
        };
        let said =
            format!("waiting for running steps, at most {most}; the same signal again kills them");
        crate::view::say(&format!("\r\n{said}\r\n"));
    };
    // Without a thread to spare there is only silence.
    let _ = std::thread::Builder::new().stack_size(128 * 1024).spawn(wait);
}

/// Those that are watched since before what runs: while somebody was asked.
static EARLY: Mutex<Option<Watched>> = Mutex::new(None);

/// Signals to opal, and what stops because of them.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    stop: Stop,
    interrupts: Interrupts,
    resized: Arc<OnceLock<Resized>>,
}

/// Who wants to know that the terminal has another size.
struct Resized(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Resized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Resized(…)")
    }
}

impl Watched {
    /// From now on a signal ends what runs in good order.
    pub(crate) fn begin() -> Result<Self, Failure> {
        if let Some(early) = Self::from_early() {
            return Ok(early);
        }
        let watched = Self::fresh();
        let resized = Arc::clone(&watched.resized);
        let hook: Hook = Box::new(move || {
            if let Some(Resized(tell)) = resized.get() {
                tell();
            }
        });
        watch(&watched.interrupts, vec![(SIGWINCH, hook)])?;
        Ok(watched)
    }

    /// For what starts nothing: a signal ends it as it ends any program.
    pub(crate) fn nothing() -> Self {
        // Once they are watched, they no longer end the process by themselves.
        Self::from_early().unwrap_or_else(Self::fresh)
    }

    /// From now on a signal ends a question, and whatever begins later in this process.
    pub(crate) fn early() -> Result<Self, Failure> {
        let watched = Self::begin()?;
        *EARLY.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched.clone());
        Ok(watched)
    }

    fn from_early() -> Option<Self> {
        EARLY.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fresh() -> Self {
        let stop = Stop::new();
        Self { interrupts: Interrupts::new(stop.clone()), stop, resized: Arc::default() }
    }

    /// Gives what runs so long to end once it has been asked to.
    pub(crate) fn be_patient(&self, grace: Duration) {
        self.stop.be_patient(grace);
    }

    /// The same for what may take so long.
    pub(crate) fn within(&self, limit: Option<opal_core::Duration>) -> Self {
        let limited = |limit: opal_core::Duration| {
            self.stop.limited(Duration::from_nanos(limit.as_nanos().unsigned_abs()), USUAL_GRACE)
        };
        Self {
            stop: limit.map_or_else(|| self.stop.clone(), limited),
            interrupts: self.interrupts.clone(),
            resized: Arc::clone(&self.resized),
        }
    }

    /// Tells when the terminal has another size. There is one who is told.
    pub(crate) fn on_resize(&self, tell: impl Fn() + Send + Sync + 'static) {
        let _ = self.resized.set(Resized(Box::new(tell)));
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    pub(crate) fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    /// The exit code, where a signal came.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self.stop.why()? {
            Why::Signal(number) => Some(Exit::Step(u8::try_from(128 + number).unwrap_or(1))),
            Why::TimedOut | Why::Cancelled => None,
        }
    }

    /// What a run ends with whose first step was not reached, since `what`; none where nothing has
    /// stopped it.
    pub(crate) fn cut_off(&self, what: &str) -> Option<Stopped> {
        if let Some(exit) = self.exit() {
            return Some(Stopped::Ended(exit));
        }
        self.stop.why().map(|_| {
            Stopped::Failed(Failure::new(
                Exit::Step(124),
                format!("the run timed out: {what}, and nothing was run"),
                "give it more with `--timeout`, which covers planning and questions too",
            ))
        })
    }
}

/// What is done when a signal comes, in a thread of its own and not in a handler.
type Hook = Box<dyn Fn() + Send>;

/// From now on SIGINT, SIGTERM and SIGHUP go to `interrupts`, and others to their hooks.
fn watch(interrupts: &Interrupts, hooks: Vec<(i32, Hook)>) -> Result<(), Failure> {
    let ignored = ignored();
    let ending = ENDING.into_iter().filter(|signal| ignored & bit(*signal) == 0);
    let failed = |error| {
        Failure::new(
            Exit::Unavailable,
            format!("signals cannot be watched: {error}"),
            "nothing was run; try again when the machine has more free resources",
        )
    };
    let note = Arc::new(AtomicUsize::new(0));
    for signal in ending.clone() {
        let number = signal.unsigned_abs() as usize;
        signal_hook::flag::register_usize(signal, Arc::clone(&note), number).map_err(failed)?;
    }
    interrupts.0.stop.noted_in(note);
    let all = ending.chain(hooks.iter().map(|(signal, _)| *signal));
    let mut signals = Signals::new(all).map_err(failed)?;
    let interrupts = interrupts.clone();
    let stop = interrupts.0.stop.clone();
    let listen = move || {
        for signal in signals.forever() {
            if ENDING.contains(&signal) {
                interrupts.heard(signal);
            }
            hooks.iter().filter(|(of, _)| *of == signal).for_each(|(_, hook)| hook());
        }
    };
    let listen = Mutex::new(Some(listen));
    let deaf = stop.clone();
    // From here on signals are kept; who listens to them comes when a run takes its time.
    stop.attended_by(move || {
        let Some(listen) = listen.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).stack_size(128 * 1024);
        if thread.spawn(listen).is_err() {
            // A run that nobody could stop had better not go on.
            deaf.ask(Why::Signal(SIGTERM));
        }
    });
    Ok(())
}

/// The signals that opal was started to ignore. Where the system does not tell, none.
fn ignored() -> u64 {
    // In one read: growing from nothing takes a dozen.
    let mut status = String::with_capacity(8 * 1024);
    let read = File::open("/proc/self/status").and_then(|mut it| it.read_to_string(&mut status));
    let mask = read.ok().and_then(|_| status.lines().find_map(|it| it.strip_prefix("SigIgn:")));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// A file that may not grow any more is an error of the write, and not the end of opal in the middle
/// of a run. Steps keep what the signal means to them: what is caught here ends with `exec`.
pub(crate) fn outlive_size_limits() {
    let signal = rustix::process::Signal::XFSZ.as_raw();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some() && ignored() & bit(signal) == 0 {
        // Where it cannot be caught, it means what it always means.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
}

#[cfg(test)]
mod tests {
    use opal_session::stop::Order;

    use super::*;

    fn why(stop: &Stop) -> Option<Why> {
        match stop.order() {
            Order::End { why, .. } => Some(why),
            _ => None,
        }
    }

    #[test]
    fn the_first_signal_asks_and_the_second_kills() {
        let stop = Stop::new();
        let interrupts = Interrupts::new(stop.clone());
        let start = Instant::now();
        interrupts.heard_at(SIGTERM, start);
        assert_eq!(why(&stop), Some(Why::Signal(SIGTERM)));
        interrupts.heard_at(SIGINT, start + ONE_SIGNAL);
        assert_eq!(stop.order(), Order::Kill);
    }

    #[test]
    fn one_signal_that_comes_on_two_ways_is_one() {
        let stop = Stop::new();
        let interrupts = Interrupts::new(stop.clone());
        let start = Instant::now();
        interrupts.heard_at(SIGINT, start);
        interrupts.heard_at(SIGINT, start + ONE_SIGNAL / 2);
        interrupts.heard_at(SIGHUP, start + ONE_SIGNAL * 20);
        assert_eq!(why(&stop), Some(Why::Signal(SIGINT)));
    }

    #[test]
    fn a_signal_without_a_meaning_here_goes_to_its_hook() {
        let (sender, heard) = std::sync::mpsc::channel();
        let stop = Stop::new();
        let hook: Hook = Box::new(move || sender.send(()).unwrap());
        let signal = signal_hook::consts::SIGUSR2;
        watch(&Interrupts::new(stop.clone()), vec![(signal, hook)]).unwrap();
        stop.attend();
        signal_hook::low_level::raise(signal).unwrap();
        heard.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(stop.order(), Order::GoOn);
    }
}
