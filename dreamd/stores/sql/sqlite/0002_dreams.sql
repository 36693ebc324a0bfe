-- What a dream finds to be at odds: both insights stay, the pair is remembered.
CREATE TABLE contradictions (
  id       INTEGER PRIMARY KEY,
  agent    TEXT    NOT NULL,
  left_id  TEXT    NOT NULL,
  right_id TEXT    NOT NULL,
  reason   TEXT    NOT NULL, -- which number, name or negation
  at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX contradicting_pairs ON contradictions (agent, min(left_id, right_id), max(left_id, right_id));
