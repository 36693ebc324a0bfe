-- What dreamd's own calls take: a place at an upstream while they run, and tokens. Shared by all its processes.
CREATE TABLE slots (
  slot_id       TEXT PRIMARY KEY,
  lane          TEXT    NOT NULL,
  agent         TEXT    NOT NULL,
  purpose       TEXT    NOT NULL,
  began_at      INTEGER NOT NULL,
  held_until    INTEGER, -- NULL: given back
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  told          INTEGER NOT NULL -- 0: the tokens are an estimate
) STRICT, WITHOUT ROWID;
CREATE INDEX slots_by_beginning ON slots (began_at);
CREATE INDEX slots_held ON slots (held_until) WHERE held_until IS NOT NULL;
