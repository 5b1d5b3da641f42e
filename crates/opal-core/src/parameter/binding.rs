//! Which argument goes to which parameter.

use crate::decorator::{Param, Presence};

/// What binding needs to know of a parameter.
pub trait Parameter {
    fn name(&self) -> &str;

    /// Another name that means the same.
    fn alias(&self) -> Option<&str> {
        None
    }

    fn is_required(&self) -> bool;

    /// Whether it takes every further argument by position.
    fn is_rest(&self) -> bool {
        false
    }
}

impl Parameter for Param {
    fn name(&self) -> &str {
        self.name
    }

    fn alias(&self) -> Option<&str> {
        self.alias
    }

    fn is_required(&self) -> bool {
        matches!(self.presence, Presence::Required)
    }
}

/// Parameters that get their arguments one by one. `M` marks where an argument is written.
///
/// An argument by position goes to the first parameter without a value; a rest parameter takes it
/// and all after it.
#[derive(Debug)]
pub struct Binding<'p, P, M> {
    params: &'p [P],
    given: Vec<Option<M>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindError<M> {
    /// Every parameter has its argument.
    TooMany,
    /// No parameter has this name.
    Unknown,
    /// The parameter of this index has an argument already, at `first`.
    Repeated { index: usize, first: M },
}

impl<'p, P: Parameter, M: Copy> Binding<'p, P, M> {
    #[must_use]
    pub fn new(params: &'p [P]) -> Self {
        Self { params, given: vec![None; params.len()] }
    }

    /// The parameter that the next argument by position goes to.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        let params = self.params.iter().zip(&self.given);
        params.into_iter().position(|(param, given)| given.is_none() || param.is_rest())
    }

    /// Binds an argument by position.
    ///
    /// # Errors
    /// There are more arguments than parameters.
    pub fn by_position(&mut self, mark: M) -> Result<usize, BindError<M>> {
        let index = self.next().ok_or(BindError::TooMany)?;
        self.given[index] = Some(mark);
        Ok(index)
    }

    /// Binds an argument by the name or the alias of its parameter.
    ///
    /// # Errors
    /// No parameter has the name, or it has an argument.
    pub fn by_name(&mut self, name: &str, mark: M) -> Result<usize, BindError<M>> {
        let is_it = |param: &P| param.name() == name || param.alias() == Some(name);
        let index = self.params.iter().position(is_it).ok_or(BindError::Unknown)?;
        self.at(index, mark)
    }

    /// Binds an argument to the parameter of this index.
    ///
    /// # Errors
    /// It has an argument, and is not a rest parameter.
    pub fn at(&mut self, index: usize, mark: M) -> Result<usize, BindError<M>> {
        match self.given[index].replace(mark) {
            Some(first) if !self.params[index].is_rest() => {
                Err(BindError::Repeated { index, first })
            }
            _ => Ok(index),
        }
    }

    /// Where the argument of a parameter is written.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<M> {
        let index = self.params.iter().position(|param| param.name() == name)?;
        self.given[index]
    }

    /// The parameters that need an argument and have none.
    pub fn missing(&self) -> impl Iterator<Item = &'p P> {
        let params = self.params.iter().zip(&self.given);
        params
            .filter(|(param, given)| given.is_none() && param.is_required() && !param.is_rest())
            .map(|(param, _)| param)
    }
}

/// Why not exactly one of some parameters is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactlyOneError<M> {
    None,
    Two { first: (&'static str, M), second: (&'static str, M) },
}

/// Whether exactly one of `names` is given, where there are any.
///
/// # Errors
/// None is, or more than one.
pub fn exactly_one<M>(
    names: &'static [&'static str],
    given: impl Fn(&str) -> Option<M>,
) -> Result<(), ExactlyOneError<M>> {
    let mut given = names.iter().filter_map(|name| Some((*name, given(name)?)));
    match (given.next(), given.next()) {
        (Some(first), Some(second)) => Err(ExactlyOneError::Two { first, second }),
        (None, _) if !names.is_empty() => Err(ExactlyOneError::None),
        _ => Ok(()),
    }
}
