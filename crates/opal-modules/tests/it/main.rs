mod drivers;
mod keep;
