//! Runs of modules from the outside: `opal module apply` and its like, in small releases of their own.

mod blueprints;
mod contracts;
mod dependencies;
mod drift;
mod errors;
mod hook_faults;
mod hooks;
mod hostile;
mod inputs;
mod kept;
mod lifetimes;
mod limits;
mod outcome;
mod places;
mod policy;
mod release;
mod secrets;
mod sensitive;
mod shapes;
mod silence;
mod slips;
mod state;
mod stopped;
mod terms;
mod trouble;
mod verify;
