-- Step 4. What a page asks of a store with 100,000 trials: the last single runs of a kernel, and the fates and the best of a sweep, without
-- reading a config or a trial of a sweep.
ALTER TABLE trial ADD COLUMN swept INTEGER NOT NULL DEFAULT 0;
UPDATE trial SET swept=1 WHERE id IN (SELECT trial FROM sweep_trial WHERE trial IS NOT NULL);
CREATE INDEX trial_single ON trial (kernel, created) WHERE NOT swept;
CREATE INDEX trial_created ON trial (created);
DROP INDEX sweep_trial_status;
CREATE INDEX sweep_trial_fate ON sweep_trial (sweep, status, problem, same_as, implausible, median_us, trial);
