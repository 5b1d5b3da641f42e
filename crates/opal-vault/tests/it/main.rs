mod logs;
mod patterns;
mod record;
mod vault;
mod vault_forms;
mod vault_logs;
mod vault_sequences;
