-- Copies run 1 of a store RUNS times, on 132 machines in turns; its series have the numbers 1 to SERIES.
-- The same text runs on SQLite and PostgreSQL; `cargo xtask perf --only store` puts numbers for the words.
BEGIN;
CREATE TEMPORARY TABLE copy (i BIGINT NOT NULL PRIMARY KEY);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < RUNS) INSERT INTO copy SELECT i FROM n;
INSERT INTO study (id, plan, seed)
    SELECT 's' || i, plan, seed FROM copy, study WHERE id = (SELECT study FROM run WHERE no = 1);
INSERT INTO run (no, id, study, status, config_class, label, price, price_per, currency, watts, started_ns, seconds,
        agent_cpu_seconds, telemetry_cpu_seconds, cost_seconds, hidden, takes, faults, measured, figure_set)
    SELECT i + 1, substr(id, 1, 24) || substr(CAST(1000000000000 + i AS TEXT), 2), 's' || i, status, config_class, label,
        price, price_per, currency, watts, started_ns + i * 600000000000, seconds, agent_cpu_seconds,
        telemetry_cpu_seconds, cost_seconds, hidden, takes, faults, measured, figure_set
    FROM copy, run WHERE no = 1;
INSERT INTO participant (run, no, role, machine_id, machine, hostname, boot_id, build, target, clock_source)
    SELECT i + 1, no, role, 'machine-' || (i % 132), 'node' || (i % 132), hostname, boot_id, build, target, clock_source
    FROM copy, participant WHERE run = 1;
INSERT INTO fact (run, participant, ord, fact_value)
    SELECT i + 1, participant, ord, fact_value FROM copy, fact WHERE run = 1;
INSERT INTO series (no, run, participant, arm, instrument, metric, unit, params, definition, better)
    SELECT no + i * SERIES, i + 1, participant, arm, instrument, metric, unit, params, definition, better
    FROM copy, series WHERE run = 1;
INSERT INTO take (run, seq, block, sitting, warm_up, cell, arm, start_ns, end_ns, repeats, fault, fault_kind, refusals)
    SELECT i + 1, seq, block, sitting, warm_up, cell, arm, start_ns, end_ns, repeats, fault, fault_kind, refusals
    FROM copy, take WHERE run = 1;
INSERT INTO reading (series, seq, ord, block, sitting, warm_up, at_ns, window_ns, value, bits, histogram)
    SELECT series + i * SERIES, seq, ord, block, sitting, warm_up, at_ns, window_ns, value * (1 + (i % 7) * 0.001), bits,
        histogram
    FROM copy, reading WHERE series <= SERIES;
INSERT INTO note (run, ord, kind, body, at_ns)
    SELECT i + 1, ord, kind, body, at_ns FROM copy, note WHERE run = 1;
INSERT INTO telemetry (run, ord, source, segment, target)
    SELECT i + 1, ord, source, segment, target FROM copy, telemetry WHERE run = 1;
COMMIT;
ANALYZE;
