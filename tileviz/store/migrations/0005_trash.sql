-- Step 5. Deleting with undo: an entry for what was deleted, and the rows that went with it, whole and as JSON, until the trash is emptied.
CREATE TABLE trash (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    deleted REAL NOT NULL
);
CREATE TABLE trash_row (
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    entry TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (source, id)
);
CREATE INDEX trash_row_entry ON trash_row (entry);
CREATE INDEX trial_artifact ON trial (artifact) WHERE artifact IS NOT NULL;
