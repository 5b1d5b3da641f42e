//! The nodes of a configuration: YAML without tags, and the diagnostic of a text that has none.

use std::rc::Rc;

use opal_core::{Code, Diagnostic, Span};
use opal_yaml::{Fault, Why};

pub use opal_yaml::{Node, NodeKind};

/// Reads the document of a text; none where there is nothing in it.
pub fn read(text: &str) -> Result<Option<Rc<Node>>, Box<Diagnostic>> {
    opal_yaml::read(text, |_| false).map_err(|it| Box::new(diagnostic(it)))
}

/// The fault of a text without a document; `help` says how such a file begins.
pub fn empty(text: &str, help: &str) -> Diagnostic {
    fault(Span::at(opal_yaml::end_of(text) as u32), "this file is empty").help(help)
}

fn fault(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::ConfigSyntax, span, message)
}

fn diagnostic(Fault { span, why }: Fault) -> Diagnostic {
    match why {
        Why::Syntax(said) => fault(span, "invalid YAML")
            .label(said)
            .help("indent with spaces, never tabs; a text that contains `: ` or ` #` needs quotes"),
        Why::Tag(_) => {
            fault(span, "tags are not supported").help("remove it; quotes turn any value into text")
        }
        Why::SecondDocument => fault(span, "a second document begins here")
            .help("a file has one document: move the other to its own file"),
        Why::Nul => fault(span, "this text contains a NUL character")
            .help("remove it: paths and commands cannot contain one"),
        Why::AliasInside => {
            fault(span, "this alias is inside the value that it names").help("write the value out")
        }
        Why::TooDeep => {
            fault(span, "nesting deeper than 64 levels").help("three or four levels are usual")
        }
        Why::TooLarge => fault(span, "the file is too large with its aliases expanded")
            .help("use fewer aliases, or split the file"),
    }
}
