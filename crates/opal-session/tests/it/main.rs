mod script;
mod served;
mod session;
mod wire;
mod world;
