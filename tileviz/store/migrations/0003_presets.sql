-- Step 3. Presets: the best config of a sweep for one problem, one for each kernel, target, device and problem; and the texts of artifacts
-- within the file, compressed and each content once, for a store that is a single file: the recorded one.
CREATE TABLE preset (
    id TEXT PRIMARY KEY,
    kernel TEXT NOT NULL,
    target TEXT NOT NULL,
    device TEXT NOT NULL,
    problem_key TEXT NOT NULL,
    created REAL NOT NULL,
    doc TEXT NOT NULL,
    UNIQUE (kernel, target, device, problem_key)
);
CREATE TABLE packed (
    hash TEXT PRIMARY KEY,
    content BLOB NOT NULL
);
CREATE TABLE artifact_file (
    artifact TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (artifact, name)
) WITHOUT ROWID;
