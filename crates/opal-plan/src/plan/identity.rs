//! Whether two values are the same by where they come from, before anything is asked of the world.
//!
//! Two constants are the same where their values are; two computed values are where they are computed in
//! the same way from the same. A random value is the same as itself only.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::call::{CallShape, ShapedPiece, ShapedValue};
use super::graph::{Cell, Graph, Node, Op};

/// A number for each value that was asked about; the same for the same value.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    numbers: BTreeMap<String, u32>,
    /// Of the first nodes of the graph.
    nodes: Vec<u32>,
}

impl Identities {
    pub(crate) fn of(&mut self, cell: &Cell, graph: &Graph) -> u32 {
        match cell {
            // The names of what comes from the world are not quoted, as texts are.
            Cell::Known(datum) => self.number(format!("= {}", datum.symbol())),
            Cell::Node(id) => {
                let wanted = *id as usize;
                // A node is computed from older ones only.
                for index in self.nodes.len()..=wanted {
                    let number = self.node(index, graph);
                    self.nodes.push(number);
                }
                self.nodes[wanted]
            }
        }
    }

    fn number(&mut self, written: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(written).or_insert(next)
    }

    fn node(&mut self, index: usize, graph: &Graph) -> u32 {
        let Node { op, operands, .. } = &graph.nodes[index];
        let operands: Vec<u32> = operands.iter().map(|operand| self.of(operand, graph)).collect();
        let mut written = match op {
            // It only says what is accepted.
            Op::Typed(_) if let [operand] = operands.as_slice() => return *operand,
            Op::Call(shape) => call(shape, index),
            Op::Field(field) => format!("field {}", field.name),
            Op::Map(keys) => format!("map {keys:?}"),
            Op::Unary(op) => format!("unary {op:?}"),
            Op::Binary(op) => format!("binary {op:?}"),
            Op::Function(function) => format!("function {function:?}"),
            Op::Join => "join".to_owned(),
            Op::Array => "array".to_owned(),
            Op::Index => "index".to_owned(),
            Op::All => "all".to_owned(),
            Op::Typed(_) => "typed".to_owned(),
        };
        let _ = write!(written, " {operands:?}");
        self.number(written)
    }
}

fn call(shape: &CallShape, index: usize) -> String {
    let descriptor = shape.descriptor();
    let mut written = format!("call {} {:?}", descriptor.path, shape.call.subject);
    if descriptor.generator.is_some() {
        let _ = write!(written, " {index}");
    }
    for arg in &shape.args {
        let _ = write!(written, " {}", arg.param.name);
        match &arg.value {
            ShapedValue::Operand(at) => {
                let _ = write!(written, " {at}");
            }
            ShapedValue::Script(pieces) => {
                for piece in pieces {
                    let _ = match piece {
                        ShapedPiece::Text(text) => write!(written, " {text:?}"),
                        ShapedPiece::Data { operand, .. } => write!(written, " data {operand}"),
                        ShapedPiece::Raw(operand) => write!(written, " raw {operand}"),
                    };
                }
            }
        }
    }
    written
}
