//! Runs of modules from the outside: `opal module apply` and its like, in small releases of their own.

mod blueprints;
mod contracts;
mod dependencies;
mod drift;
mod hostile;
mod inputs;
mod kept;
mod limits;
mod outcome;
mod places;
mod release;
mod secrets;
mod shapes;
mod silence;
mod state;
mod stopped;
mod trouble;
mod verify;
