"""The processes that do the work: the fork server, the children and lanes, and what tells one
engine from another."""
