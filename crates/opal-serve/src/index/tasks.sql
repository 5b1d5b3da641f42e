-- `cargo xtask bench runs` also gives this to `sqlite3`.
WITH ended AS (
  SELECT id, task, status, started_at, took_ms,
    status NOT IN ('executed', 'drifted') AS bad,
    row_number() OVER (PARTITION BY task ORDER BY took_ms) AS place,
    count(*) OVER (PARTITION BY task) AS total,
    first_value(status) OVER (PARTITION BY task ORDER BY id DESC) AS latest
  FROM runs WHERE status NOT IN ('running', 'refused') AND (?1 IS NULL OR task = ?1)
), turned AS (
  SELECT *, bad <> lag(bad, 1, bad) OVER (PARTITION BY task ORDER BY id) AS turns FROM ended
)
SELECT task, max(total), sum(bad), sum(turns),
  max(took_ms) FILTER (WHERE place = (total + 1) / 2),
  max(took_ms) FILTER (WHERE place = (total * 95 + 99) / 100),
  (SELECT id FROM runs AS slow WHERE slow.task = turned.task AND status NOT IN ('running', 'refused')
    ORDER BY took_ms DESC LIMIT 1),
  max(took_ms), max(latest),
  coalesce(max(started_at) FILTER (WHERE turns), min(started_at))
FROM turned GROUP BY task ORDER BY sum(turns) DESC, sum(bad) DESC, task
