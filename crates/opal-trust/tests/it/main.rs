mod approvals;
mod keys;
mod policy;
mod randomness;
