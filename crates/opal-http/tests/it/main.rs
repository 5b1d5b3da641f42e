mod pages;
mod transfers;
