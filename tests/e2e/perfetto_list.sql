/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lines that read_perfetto.py lists, of the trace itself. Goroutines that never change share a slice if there are many. */
WITH seen AS (SELECT g FROM state GROUP BY g HAVING count(*) > 1 OR max(ends) OR (SELECT count(*) FROM goroutine) <= 2000),
runs AS (SELECT s.*, goid FROM state s JOIN goroutine g ON g.id = s.g WHERE state = 'running' AND p IS NOT NULL),
steps AS (SELECT ts, g, goid, 0 AS runs FROM wakeup w JOIN goroutine g ON g.id = w.g UNION ALL SELECT ts, g, goid, 1 FROM runs),
pairs AS (SELECT ts, goid, runs, lead(ts) OVER w AS next, lead(runs) OVER w AS next_runs FROM steps WINDOW w AS (PARTITION BY g ORDER BY ts, runs))
SELECT 'state ' || ts || ' ' || dur || ' ' || goid || ' ' || upper(substr(state, 1, 1)) || substr(state, 2) ||
  CASE WHEN state = 'waiting' AND reason IS NOT NULL THEN ': ' || reason ELSE '' END
FROM state s JOIN goroutine g ON g.id = s.g WHERE s.g IN seen
UNION ALL SELECT 'run ' || ts || ' ' || dur || ' ' || goid FROM runs
UNION ALL SELECT 'wake ' || ts || ' ' || goid FROM wakeup w JOIN goroutine g ON g.id = w.g
UNION ALL SELECT 'flow ' || ts || ' ' || next || ' ' || goid FROM pairs WHERE NOT runs AND next_runs
UNION ALL SELECT 'on ' || s.thread || ' ' || goid || ' ' || sum(dur) FROM state s JOIN goroutine g ON g.id = s.g
WHERE state IN ('running', 'syscall') AND s.thread IS NOT NULL AND (SELECT count(*) FROM region WHERE name GLOB '[[]off CPU: *') GROUP BY s.thread, goid
UNION ALL SELECT 'off ' || ts || ' ' || dur || ' ' || goid FROM region r JOIN goroutine g ON g.id = r.g WHERE r.name GLOB '[[]off CPU: *'
