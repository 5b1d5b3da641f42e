//! Calls that are too long for a line: an argument a line, and of a map a key a line. Nothing is cut.

use super::{Words, string};
use crate::plan::Arg;
use crate::value::Value;
use crate::view::ink::Ink;

/// What still is one line, without the name of the decorator.
const COLUMNS: usize = 100;

impl Words<'_> {
    /// Whether a call with these arguments is too long for a line.
    pub(super) fn is_long<'n>(&mut self, args: impl Iterator<Item = (&'n str, &'n Arg)>) -> bool {
        let mut line = Ink::exact();
        for (name, arg) in args {
            line.write(name);
            self.arg(arg, &mut line);
        }
        line.finish().chars().count() > COLUMNS
    }

    /// An argument of such a call.
    pub(super) fn long_arg(&mut self, arg: &Arg, ink: &mut Ink) {
        match arg {
            Arg::Const(Value::Map(fields)) if fields.len() > 1 => {
                let write =
                    |_: &mut Self, value: &Value, ink: &mut Ink| ink.write(&value.to_string());
                self.rows(fields.iter(), &write, ink);
            }
            Arg::Map(fields) if fields.len() > 1 => {
                self.rows(fields.iter(), &|words, arg, ink| words.arg(arg, ink), ink);
            }
            _ => self.arg(arg, ink),
        }
    }

    fn rows<'f, T: 'f>(
        &mut self,
        fields: impl Iterator<Item = (&'f String, &'f T)>,
        write: &dyn Fn(&mut Self, &T, &mut Ink),
        ink: &mut Ink,
    ) {
        ink.write("{");
        for (name, field) in fields {
            ink.write(&format!("\n    {}: ", string(name)));
            write(self, field, ink);
            ink.write(",");
        }
        ink.write("\n  }");
    }
}
