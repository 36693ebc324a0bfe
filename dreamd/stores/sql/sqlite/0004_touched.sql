-- Which memories have changed, for whoever follows the pool (the index of recall): what is new is known by its seq.
-- What changes nothing that can be found (dreamt, filed, recalled, moved to the archive) is passed over.
CREATE TABLE touched (
  n   INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of changes; a later change of the same memory replaces the earlier
  seq INTEGER NOT NULL UNIQUE
) STRICT;

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
