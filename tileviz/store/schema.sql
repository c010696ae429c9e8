-- Step 1. A change is a further numbered step in migrations.py.
CREATE TABLE job (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    phase TEXT NOT NULL DEFAULT '',
    phase_started REAL,
    phases TEXT NOT NULL DEFAULT '{}',
    trial TEXT,
    artifact TEXT,
    reason TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    started REAL,
    ended REAL
);
CREATE INDEX job_state ON job (state, created);
CREATE TABLE trial (
    id TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    kernel TEXT NOT NULL,
    target TEXT NOT NULL,
    device TEXT,
    status TEXT NOT NULL,
    artifact TEXT,
    created REAL NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX trial_key ON trial (key, created);
CREATE INDEX trial_kernel ON trial (kernel, created);
CREATE TABLE artifact (
    key TEXT PRIMARY KEY,
    created REAL NOT NULL,
    complete INTEGER NOT NULL,
    doc TEXT NOT NULL
);
CREATE TABLE device (
    id TEXT PRIMARY KEY,
    updated REAL NOT NULL,
    doc TEXT NOT NULL
);
CREATE TABLE notice (
    created REAL NOT NULL,
    text TEXT NOT NULL
);
