mod keys;
mod policy;
mod randomness;
