mod script;
mod served;
mod session;
mod world;
