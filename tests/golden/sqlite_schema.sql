CREATE INDEX archived_memories ON memories (block) WHERE block IS NOT NULL;

CREATE UNIQUE INDEX contradicting_pairs ON contradictions (agent, min(left_id, right_id), max(left_id, right_id));

CREATE INDEX derived_memories ON memories (agent, type, status) WHERE type <> 'raw';

CREATE INDEX file_versions_by_agent ON file_versions (agent);

CREATE INDEX journal_by_job ON journal (job);

CREATE INDEX memories_by_day ON memories (agent, day);

CREATE INDEX slots_by_beginning ON slots (began_at);

CREATE INDEX slots_held ON slots (held_until) WHERE held_until IS NOT NULL;

CREATE TABLE blocks (
  id          INTEGER PRIMARY KEY,
  file        TEXT    NOT NULL,
  byte_offset INTEGER NOT NULL,
  byte_length INTEGER NOT NULL
) STRICT;

CREATE TABLE contradictions (
  id       INTEGER PRIMARY KEY,
  agent    TEXT    NOT NULL,
  left_id  TEXT    NOT NULL,
  right_id TEXT    NOT NULL,
  reason   TEXT    NOT NULL, -- which number, name or negation
  at       INTEGER NOT NULL
) STRICT;

CREATE TABLE cursors (
  source_id    TEXT    PRIMARY KEY,
  agent        TEXT    NOT NULL,
  path         TEXT    NOT NULL,
  format       TEXT    NOT NULL,
  device       TEXT    NOT NULL, -- unsigned 64 bits, as is the inode
  inode        TEXT    NOT NULL,
  head_length  INTEGER NOT NULL,
  head_sha256  BLOB    NOT NULL,
  byte_offset  INTEGER NOT NULL,
  tail_length  INTEGER NOT NULL,
  tail_sha256  BLOB    NOT NULL,
  state        BLOB    NOT NULL,
  state_offset INTEGER NOT NULL,
  version      INTEGER NOT NULL,
  lines        INTEGER NOT NULL,
  records      INTEGER NOT NULL,
  truncated    INTEGER NOT NULL,
  skipped      TEXT    NOT NULL, -- JSON: kind -> count
  read_at      INTEGER
) STRICT;

CREATE TABLE day_counts (
  agent    TEXT    NOT NULL,
  day      TEXT    NOT NULL,
  origin   TEXT    NOT NULL,
  memories INTEGER NOT NULL, -- raw, neither withdrawn nor forgotten
  unfiled  INTEGER NOT NULL,
  PRIMARY KEY (agent, day, origin)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_versions (
  version_id INTEGER PRIMARY KEY,
  agent      TEXT    NOT NULL,
  path       TEXT    NOT NULL,
  author     TEXT    NOT NULL,
  content    TEXT    NOT NULL,
  sha256     TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  day        TEXT,
  note       TEXT    NOT NULL
) STRICT;

CREATE TABLE held (
  held_id     INTEGER PRIMARY KEY,
  agent       TEXT    NOT NULL,
  day         TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  base_sha256 TEXT    NOT NULL,
  content     TEXT    NOT NULL,
  diary       TEXT    NOT NULL,
  reason      TEXT    NOT NULL,
  detail      TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  state       TEXT    NOT NULL
) STRICT;

CREATE TABLE journal (
  key     TEXT    PRIMARY KEY,
  job     TEXT    NOT NULL,
  purpose TEXT    NOT NULL,
  reply   TEXT    NOT NULL, -- JSON
  at      INTEGER NOT NULL
) STRICT;

CREATE TABLE ledger (
  agent       TEXT    NOT NULL,
  day         TEXT    NOT NULL,
  phase       TEXT    NOT NULL,
  state       TEXT    NOT NULL,
  attempts    INTEGER NOT NULL,
  input_hash  TEXT    NOT NULL,
  reason      TEXT    NOT NULL,
  usage       TEXT    NOT NULL, -- JSON
  started_at  INTEGER,
  finished_at INTEGER,
  PRIMARY KEY (agent, day, phase)
) STRICT;

CREATE TABLE line_evidence (
  agent   TEXT    NOT NULL,
  line    TEXT    NOT NULL,
  ref_ids TEXT    NOT NULL, -- JSON
  day     TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (agent, line)
) STRICT;

CREATE TABLE memories (
  seq         INTEGER PRIMARY KEY,
  memory_id   TEXT    NOT NULL UNIQUE, -- the dedupe
  type        TEXT    NOT NULL,
  agent       TEXT    NOT NULL,
  day         TEXT    NOT NULL, -- the memory's window
  status      TEXT    NOT NULL,
  filed       INTEGER NOT NULL,
  role        TEXT,
  origin      TEXT,
  trust       INTEGER NOT NULL,
  session_id  TEXT    NOT NULL,
  task_id     TEXT    NOT NULL,
  at          INTEGER, -- when it happened
  received_at INTEGER NOT NULL,
  ok          INTEGER,
  tool        TEXT    NOT NULL,
  project     TEXT    NOT NULL,
  source      INTEGER REFERENCES sources, -- NULL: no span
  span_offset INTEGER NOT NULL,
  span_length INTEGER NOT NULL,
  span_sha256 BLOB    NOT NULL,
  span_table  TEXT    NOT NULL,
  span_row    TEXT    NOT NULL,
  confidence  REAL    NOT NULL,
  content     TEXT    NOT NULL,
  extra       TEXT -- JSON of the fields that few memories have; NULL where all are as by default
, pinned      INTEGER NOT NULL DEFAULT 0, recalled_at INTEGER, block       INTEGER) STRICT;

CREATE TABLE memory_refs (
  ref_id TEXT    NOT NULL,
  seq    INTEGER NOT NULL REFERENCES memories,
  PRIMARY KEY (ref_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE migrations (
  number INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,
  sha256 TEXT NOT NULL -- of the migration's file
) STRICT;

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

CREATE TABLE sources (
  id        INTEGER PRIMARY KEY,
  source_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE tombstones (
  mark TEXT    PRIMARY KEY,
  at   INTEGER NOT NULL -- words said after this are news
) STRICT, WITHOUT ROWID;

CREATE TABLE touched (
  n   INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of changes; a later change of the same memory replaces the earlier
  seq INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TABLE turns (
  agent      TEXT    NOT NULL,
  session_id TEXT    NOT NULL,
  busy       INTEGER NOT NULL,
  at         INTEGER,
  PRIMARY KEY (agent, session_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER touch_changed AFTER UPDATE OF content, extra, status, confidence, pinned, origin, block ON memories
WHEN (NEW.status IN ('withdrawn', 'forgotten')) <> (OLD.status IN ('withdrawn', 'forgotten'))
  OR (coalesce(NEW.block, -1) < 0 AND (NEW.content <> OLD.content OR NEW.extra IS NOT OLD.extra OR NEW.origin IS NOT OLD.origin))
  OR (NEW.type <> 'raw' AND (NEW.status, NEW.confidence, NEW.pinned) <> (OLD.status, OLD.confidence, OLD.pinned))
BEGIN
  INSERT OR REPLACE INTO touched (seq) VALUES (NEW.seq);
END;

CREATE TRIGGER touch_removed AFTER DELETE ON memories
BEGIN
  INSERT OR REPLACE INTO touched (seq) VALUES (OLD.seq);
END;
