//! Expressions, and the lists inside them.

use super::{DEEPEST, Draw};

const LITERALS: &[&str] =
    &["1", "\"a  b\"", "'it  is'", "1h30m", "true", "2.5", "r\"^a |b$\"", "\"@var.x  y\"", "null"];

impl Draw<'_> {
    pub(super) fn arguments(&mut self) {
        self.text("(");
        let named = self.one_in(2);
        self.list(if named { Self::named_argument } else { Self::expression });
        self.text(")");
    }

    fn named_argument(&mut self) {
        self.new_name();
        self.blanks();
        self.text("=");
        self.wide_gap();
        self.expression();
    }

    /// Elements with commas between and, perhaps, after them.
    pub(super) fn list(&mut self, element: fn(&mut Self)) {
        self.depth += 1;
        self.wide_gap();
        let count = if self.depth > DEEPEST { 0 } else { self.below(4) };
        for index in 0..count {
            if index > 0 {
                self.text(",");
                self.wide_gap();
            }
            element(self);
            self.wide_gap();
        }
        if count > 0 && self.one_in(3) {
            self.text(",");
            self.wide_gap();
        }
        self.depth -= 1;
    }

    fn entry(&mut self) {
        self.pick(&["a", "\"b c\"", "'d'"]);
        self.wide_gap();
        self.text(":");
        self.wide_gap();
        self.expression();
    }

    pub(super) fn expression(&mut self) {
        self.operand(false);
        while self.one_in(4) {
            self.gap();
            self.pick(&["+", "-", "*", "/", "%", "==", "&&", "||", "<", "..."]);
            self.wide_gap();
            self.operand(false);
        }
    }

    /// In the head of a construct (`head`) a `{` would open the block.
    pub(super) fn operand(&mut self, head: bool) {
        // The blank keeps two signs apart.
        self.pick(&["", "", "", " -", " !", " - -"]);
        let kinds = if self.depth < DEEPEST { 7 } else { 3 };
        match self.below(kinds) {
            0 => self.text("x"),
            1 => self.pick(LITERALS),
            2 => self.text("@var.x.y[ 0 ]"),
            3 => {
                self.text("(");
                self.wide_gap();
                self.depth += 1;
                self.expression();
                self.depth -= 1;
                self.wide_gap();
                self.text(")");
            }
            4 => {
                self.text("join");
                self.arguments();
            }
            5 if !head => {
                self.text("{");
                self.list(Self::entry);
                self.text("}");
            }
            _ => {
                self.text("[");
                self.list(Self::expression);
                self.text("]");
            }
        }
    }
}
