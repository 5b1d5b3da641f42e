mod execute;
mod verify;
