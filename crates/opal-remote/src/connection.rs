//! What can be asked of a target: two types, so that who only reads cannot even express an effect.

use std::fmt;
use std::sync::Arc;

use opal_core::resolver::Trouble;
use opal_session::stop::Stop;
use opal_session::wire::codec::Malformed;
use opal_session::wire::effect::Effect;
use opal_session::wire::frame::{Kind, Loss};
use opal_session::wire::hello::Hello;
use opal_session::wire::look::Look;
use opal_session::wire::reply::Reply;

use crate::link::{Inner, Link, Sent, Shape};

/// A connection that can only read.
#[derive(Clone)]
pub struct Looking(Arc<Link>);

/// A connection that can also act.
#[derive(Clone)]
pub struct Acting {
    looking: Looking,
}

/// Where the way to a target begins.
#[derive(Clone, Copy, Debug)]
pub enum Base<'a> {
    /// On opal's machine.
    Here,
    /// On a target that can only be read: what is inside can only be read too.
    Reading(&'a Looking),
    /// On a target.
    Acting(&'a Acting),
}

impl Looking {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self(link)
    }

    /// What the helper said of itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.0.inner.hello
    }

    /// Why there is no connection any more; none while there is one.
    #[must_use]
    pub fn lost(&self) -> Option<Loss> {
        self.0.inner.lost()
    }

    /// Whether anybody else has this connection: a probe, a request, a target inside this one.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0.inner
    }

    /// A request whose reply is all there is.
    pub(crate) fn ask(&self, look: &Look, stop: &Stop) -> Result<Reply, Trouble> {
        self.begin(look, Shape::default(), stop)?.reply(stop)
    }

    pub(crate) fn begin(&self, look: &Look, shape: Shape, stop: &Stop) -> Result<Sent, Trouble> {
        self.0.send(Kind::Look, look, shape, stop)
    }

    /// The target has answered something else than it was asked.
    pub(crate) fn nonsense(&self) -> Trouble {
        self.malformed(Malformed("an answer of another kind than the request"))
    }

    /// The target has answered what cannot be.
    pub(crate) fn malformed(&self, why: Malformed) -> Trouble {
        self.inner().lose(Loss::Malformed(why));
        self.inner().trouble()
    }
}

impl Acting {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { looking: Looking::new(link) }
    }

    /// The part of it that can only read.
    #[must_use]
    pub fn looking(&self) -> &Looking {
        &self.looking
    }

    pub(crate) fn ask(&self, effect: &Effect, stop: &Stop) -> Result<Reply, Trouble> {
        self.begin(effect, Shape::default(), stop)?.reply(stop)
    }

    /// A request that has nothing to say but that it was done.
    pub(crate) fn have(&self, effect: &Effect, stop: &Stop) -> Result<(), Trouble> {
        match self.ask(effect, stop)? {
            Reply::Done => Ok(()),
            _ => Err(self.looking.nonsense()),
        }
    }

    pub(crate) fn begin(
        &self,
        effect: &Effect,
        shape: Shape,
        stop: &Stop,
    ) -> Result<Sent, Trouble> {
        self.looking.0.send(Kind::Effect, effect, shape, stop)
    }
}

impl fmt::Debug for Looking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Looking").field(&self.0).finish()
    }
}

impl fmt::Debug for Acting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Acting").field(&self.looking.0).finish()
    }
}
