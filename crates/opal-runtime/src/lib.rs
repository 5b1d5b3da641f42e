pub mod decorators;
