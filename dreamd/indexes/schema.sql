-- recall.db: derived from the pool, at any time made anew. A place `n` is the agent's number << 40 | the memory's seq, so
-- that an agent's documents lie together, the newest last. Terms are joined by two spaces, with one at either end.
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
  no    INTEGER PRIMARY KEY,
  agent TEXT    NOT NULL UNIQUE
) STRICT;

-- How many documents an agent has of either kind, and how many terms they have together.
CREATE TABLE sizes (
  agent      INTEGER NOT NULL,
  conclusion INTEGER NOT NULL,
  documents  INTEGER NOT NULL,
  terms      INTEGER NOT NULL,
  PRIMARY KEY (agent, conclusion)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  no      INTEGER PRIMARY KEY,
  agent   INTEGER NOT NULL,
  session TEXT    NOT NULL,
  UNIQUE (agent, session)
) STRICT;

CREATE TABLE documents (
  n          INTEGER PRIMARY KEY,
  conclusion INTEGER NOT NULL, -- 1: an insight; 0: a record
  session    INTEGER NOT NULL, -- 0 for conclusions
  place      INTEGER NOT NULL, -- in the session, from 1
  standing   REAL    NOT NULL,
  size       INTEGER NOT NULL, -- terms
  terms      TEXT    NOT NULL
) STRICT;
CREATE INDEX documents_by_place ON documents (session, place) WHERE session > 0;
CREATE INDEX standing_documents ON documents (n >> 40, standing) WHERE standing > 0;

-- Nothing but which terms stand where: how often they do is counted in the candidates alone.
CREATE VIRTUAL TABLE record_terms USING fts5(terms, content='', detail=none, columnsize=0, tokenize='ascii');
CREATE VIRTUAL TABLE conclusion_terms USING fts5(terms, content='', detail=none, columnsize=0, tokenize='ascii');

-- Signs of the numbers, a bit each, to look through all; the numbers themselves, a byte each, for the best.
CREATE TABLE vectors (
  n          INTEGER PRIMARY KEY,
  conclusion INTEGER NOT NULL,
  signs      BLOB    NOT NULL,
  numbers    BLOB    NOT NULL
) STRICT;
CREATE INDEX vectors_by_kind ON vectors (conclusion, n);
