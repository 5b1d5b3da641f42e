//! The functions of expressions: one table for the checks, the planner and the messages.

use opal_core::Type;

/// A function that an expression can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Int,
    Float,
    Str,
    Split,
    Join,
    Lines,
    Trim,
    Replace,
    Upper,
    Lower,
    Contains,
    StartsWith,
    EndsWith,
    Basename,
    Dirname,
    Path,
}

/// What a function takes and gives.
#[derive(Debug)]
pub struct Signature {
    pub function: Builtin,
    pub name: &'static str,
    /// The types that each argument may have; none means any.
    pub params: &'static [&'static [Type]],
    /// The last parameter may be given more than once.
    pub(crate) variadic: bool,
    pub gives: Type,
    /// A call that works, for messages.
    pub form: &'static str,
}

const TEXT: &[Type] = &[Type::String];
const ANY: &[Type] = &[];

const fn row(
    function: Builtin,
    name: &'static str,
    params: &'static [&'static [Type]],
    gives: Type,
    form: &'static str,
) -> Signature {
    Signature { function, name, params, variadic: false, gives, form }
}

#[rustfmt::skip]
static TABLE: [Signature; 16] = [
    row(Builtin::Int, "int", &[&[Type::String, Type::Float, Type::Int]], Type::Int, "int(value)"),
    row(Builtin::Float, "float", &[&[Type::String, Type::Int, Type::Float]], Type::Float, "float(value)"),
    row(Builtin::Str, "str", &[&[Type::String, Type::Int, Type::Float, Type::Bool, Type::Duration]], Type::String, "str(value)"),
    row(Builtin::Split, "split", &[TEXT, TEXT], Type::Any, "split(text, \",\")"),
    row(Builtin::Join, "join", &[ANY, TEXT], Type::String, "join(list, \",\")"),
    row(Builtin::Lines, "lines", &[TEXT], Type::Any, "lines(text)"),
    row(Builtin::Trim, "trim", &[TEXT], Type::String, "trim(text)"),
    row(Builtin::Replace, "replace", &[TEXT, TEXT, TEXT], Type::String, "replace(text, \"old\", \"new\")"),
    row(Builtin::Upper, "upper", &[TEXT], Type::String, "upper(text)"),
    row(Builtin::Lower, "lower", &[TEXT], Type::String, "lower(text)"),
    row(Builtin::Contains, "contains", &[ANY, ANY], Type::Bool, "contains(text, \"part\")` or `contains(list, item)"),
    row(Builtin::StartsWith, "starts_with", &[TEXT, TEXT], Type::Bool, "starts_with(text, \"prefix\")"),
    row(Builtin::EndsWith, "ends_with", &[TEXT, TEXT], Type::Bool, "ends_with(text, \"suffix\")"),
    row(Builtin::Basename, "basename", &[TEXT], Type::String, "basename(path)"),
    row(Builtin::Dirname, "dirname", &[TEXT], Type::String, "dirname(path)"),
    Signature { function: Builtin::Path, name: "path", params: &[TEXT], variadic: true, gives: Type::String, form: "path(\"dir\", \"file\")" },
];

impl Builtin {
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.function)
    }

    #[must_use]
    pub fn signature(self) -> &'static Signature {
        &TABLE[self as usize]
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.signature().name
    }

    /// How it is called, as the help of a message.
    #[must_use]
    pub fn form(self) -> String {
        format!("write `{}`", self.signature().form)
    }

    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        TABLE.iter().map(|row| row.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_its_own_row() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.function as usize, index, "{}", row.name);
            assert_eq!(Builtin::named(row.name), Some(row.function));
            assert!(row.form.starts_with(row.name));
        }
    }
}
