-- What a person does by hand, and the archive. Pins and recalls stand beside what a dream writes anew.
ALTER TABLE memories ADD COLUMN pinned      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN recalled_at INTEGER;
ALTER TABLE memories ADD COLUMN block       INTEGER; -- the archive's block that holds content and extra; NULL: they are here; negative: so they are, but the block has a copy
CREATE INDEX archived_memories ON memories (block) WHERE block IS NOT NULL;

-- Where a block of archived memories stands: compressed bytes of a file in the archive folder.
CREATE TABLE blocks (
  id          INTEGER PRIMARY KEY,
  file        TEXT    NOT NULL,
  byte_offset INTEGER NOT NULL,
  byte_length INTEGER NOT NULL
) STRICT;

-- What was forgotten and may not come back: memory ids, and hashes of words. Never text.
CREATE TABLE tombstones (
  mark TEXT    PRIMARY KEY,
  at   INTEGER NOT NULL -- words said after this are news
) STRICT, WITHOUT ROWID;
