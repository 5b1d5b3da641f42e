//! A task that runs on targets as a whole.

use opal_core::on::{ON, On};
use opal_core::plan::{Node, Step};
use opal_core::{Code, Diagnostic, Span, Value};

use crate::plan::datum::Datum;
use crate::plan::demand::Stop;
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::scoped::{ArgName, ArgValue, Block, BoundArg, Expr, ExprKind};

impl<'a> Planner<'a> {
    /// Expands the body of the target: in a block on targets, where that was asked for.
    pub(super) fn body(
        &mut self,
        block: &'a Block,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let Some(Value::String(text)) = self.request.arguments.get(ON) else {
            return self.block(block, place, out);
        };
        let span = Span::at(0);
        let on = On::parse(text).map_err(|error| {
            let message = format!("`{ON} {text}`: {error}");
            let help = "name a host, several hosts (`web1,web2`), or hosts of an inventory \
                        (`hosts.ini#web`)";
            self.stop(Diagnostic::new(Code::InvalidTarget, span, message).help(help))
        })?;
        let descriptor = self.request.registry.get(on.decorator);
        let Some((descriptor, boundary)) = descriptor.and_then(|it| Some((it, it.boundary?)))
        else {
            return self.block(block, place, out);
        };
        let arg = |(name, value): &(&'static str, Value)| {
            let param = descriptor.params.iter().find(|param| param.name == *name)?;
            let kind = ExprKind::Const(Datum::given(value));
            let (param, value) = (ArgName::Param(param), ArgValue::Expr(Expr { kind, span }));
            Some(BoundArg { param, value, span })
        };
        let args: Vec<BoundArg> = on.arguments.iter().filter_map(arg).collect();
        let path = place.next(descriptor.path);
        let mut step = self.node(Node::decorator(descriptor.path), path, span)?;
        for arg in &args {
            let (name, value) = self.bound(descriptor, arg)?;
            step.args.push((name.into(), value));
        }
        self.fill(descriptor, &mut step);
        self.on_targets(boundary, (&args, None), block, &mut step)?;
        out.push(step);
        Ok(())
    }
}
