mod script;
mod session;
mod world;
