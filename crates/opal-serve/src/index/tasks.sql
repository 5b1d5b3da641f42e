-- `cargo xtask bench runs` also gives this to `sqlite3`. It reads an index and nothing else.
SELECT task, id, status, started_at, took_ms FROM runs
WHERE status NOT IN ('running', 'refused') AND (?1 IS NULL OR task = ?1)
ORDER BY task, id
