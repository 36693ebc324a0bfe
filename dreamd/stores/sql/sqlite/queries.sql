-- Every question and every write of the SQLite store, by name. `{name}` stands for the text of another entry.

-- name: memory_columns
-- What `_sqlite_rows.memory_of` takes, in this order.
seq, memory_id, type, agent, day, status, filed, role, origin, trust, session_id, task_id, at, received_at, ok, tool,
project, source_id, span_offset, span_length, span_sha256, span_table, span_row, confidence, content, extra, pinned,
recalled_at, block

-- name: wanted
-- The conditions of a MemoryQuery that any access path may have to check; lists are JSON, NULL asks for nothing.
(:agent IS NULL OR agent = :agent)
AND (:day IS NULL OR day = :day)
AND (:since IS NULL OR day >= :since)
AND (:until IS NULL OR day <= :until)
AND (:filed IS NULL OR filed = :filed)
AND (:id_prefix IS NULL OR substr(memory_id, 1, length(:id_prefix)) = :id_prefix)
AND (:rests_on IS NULL OR EXISTS (
  SELECT 1 FROM json_each(:rests_on) asked JOIN memory_refs r ON r.ref_id = asked.value AND r.seq = memories.seq))
AND (:session_id IS NULL OR session_id = :session_id)
AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
AND (:origins IS NULL OR origin IN (SELECT value FROM json_each(:origins)))
AND CASE WHEN :statuses IS NULL THEN status NOT IN ('withdrawn', 'forgotten')
    ELSE status IN (SELECT value FROM json_each(:statuses)) END
AND (:holding IS NULL OR block >= 0 OR holds(content, extra, :holding))

-- name: last_seq
-- The newest memory's place, 0 in an empty pool.
SELECT coalesce(max(seq), 0) FROM memories

-- name: newest
-- Which memory stands at a place; the newest memory's place, and the newest change: 0 where there are none.
SELECT (SELECT memory_id FROM memories WHERE seq = ?),
  (SELECT coalesce(max(seq), 0) FROM memories), (SELECT coalesce(max(n), 0) FROM touched)

-- name: touched_after
-- What has changed since, in order.
SELECT n, seq FROM touched WHERE n > ? ORDER BY n LIMIT ?

-- name: memories_in_order
-- A page of memories by walking the pool itself.
SELECT {memory_columns} FROM memories NOT INDEXED LEFT JOIN sources ON sources.id = source
WHERE seq > :after AND seq <= :last AND {wanted}
ORDER BY seq LIMIT :page

-- name: memories_of_day
-- A page of one agent's memories of one day; the index has them in order.
SELECT {memory_columns} FROM memories INDEXED BY memories_by_day LEFT JOIN sources ON sources.id = source
WHERE agent = :agent AND day = :day AND seq > :after AND seq <= :last AND {wanted}
ORDER BY seq LIMIT :page

-- name: memories_by_seq
-- The memories at the listed places.
SELECT {memory_columns} FROM memories LEFT JOIN sources ON sources.id = source
WHERE seq IN (SELECT value FROM json_each(:seqs)) AND {wanted}
ORDER BY seq

-- name: seqs_by_id
-- Where the named memories stand.
SELECT seq FROM memories
WHERE memory_id IN (SELECT value FROM json_each(:ids)) AND seq > :after AND seq <= :last
ORDER BY seq

-- name: seqs_by_prefix
-- Where the memories stand whose ids begin so: a range of the index, whose end is the last of all characters.
SELECT seq FROM memories
WHERE memory_id >= :id_prefix AND memory_id < :id_prefix || char(1114111) AND seq > :after AND seq <= :last
ORDER BY seq

-- name: seqs_by_ref
-- Where the memories stand that rest on any of some.
SELECT DISTINCT r.seq FROM json_each(:rests_on) asked JOIN memory_refs r ON r.ref_id = asked.value
WHERE r.seq > :after AND r.seq <= :last ORDER BY r.seq

-- name: seqs_of_days
-- Where an agent's memories of several days stand.
SELECT seq FROM memories INDEXED BY memories_by_day
WHERE agent = :agent AND day >= coalesce(:since, '') AND day <= coalesce(:until, '9999-12-31')
  AND seq > :after AND seq <= :last
ORDER BY seq

-- name: seqs_of_derived
-- Where the summaries and insights stand.
SELECT seq FROM memories INDEXED BY derived_memories
WHERE type <> 'raw' AND (:agent IS NULL OR agent = :agent) AND seq > :after AND seq <= :last
ORDER BY seq

-- name: raw_memory
-- The raw memory an amendment is about.
SELECT {memory_columns} FROM memories LEFT JOIN sources ON sources.id = source
WHERE memory_id = :memory_id AND type = 'raw'

-- name: known_ids
-- Which of the listed ids are taken.
SELECT memory_id FROM memories WHERE memory_id IN (SELECT value FROM json_each(?))

-- name: insert_source
-- Give a log its small number.
INSERT OR IGNORE INTO sources (source_id) VALUES (?)

-- name: source
-- A log's small number.
SELECT id FROM sources WHERE source_id = ?

-- name: insert_memory
-- A memory, unless its id is there already.
INSERT INTO memories (
  memory_id, type, agent, day, status, filed, role, origin, trust, session_id, task_id, at, received_at, ok, tool,
  project, source, span_offset, span_length, span_sha256, span_table, span_row, confidence, content, extra, pinned,
  recalled_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (memory_id) DO NOTHING

-- name: tombstones
-- Which of these ids and marks were forgotten, and when.
SELECT mark, at FROM tombstones WHERE mark IN (SELECT value FROM json_each(:marks))

-- name: any_tombstone
-- Whether anything ever was forgotten.
SELECT EXISTS (SELECT 1 FROM tombstones)

-- name: insert_tombstone
-- It may not come back; what is forgotten again is so until the later time.
INSERT INTO tombstones (mark, at) VALUES (?, ?) ON CONFLICT (mark) DO UPDATE SET at = max(at, excluded.at)

-- name: erase_memory
-- What is left of a forgotten memory, as `_forgetting.erased` says.
UPDATE memories
SET status = 'forgotten', content = '', extra = NULL, block = NULL, tool = '', project = '', task_id = '',
    session_id = '', ok = NULL, filed = 1, pinned = 0, recalled_at = NULL, confidence = 0
WHERE memory_id = ?

-- name: erase_refs
-- What a forgotten memory rested on.
DELETE FROM memory_refs WHERE seq IN (SELECT seq FROM memories WHERE memory_id = ?)

-- name: erase_contradictions
-- What was at odds with it.
DELETE FROM contradictions WHERE ?1 IN (left_id, right_id)

-- name: erase_line
-- What a forgotten line rested on.
DELETE FROM line_evidence WHERE agent = ? AND line = ?

-- name: erase_held
-- A rewrite that holds what was forgotten.
DELETE FROM held WHERE held_id = ?

-- name: erase_replies
-- Paid replies of an agent's jobs (`phase:agent` or `phase:agent:...`) that wait.
DELETE FROM journal WHERE instr(substr(job, instr(job, ':') + 1) || ':', ? || ':') = 1

-- name: rewrite_version
-- A content of MEMORY.md without what was forgotten.
UPDATE file_versions SET content = ?, sha256 = ?, note = ? WHERE version_id = ?

-- name: reader_states
-- What readers keep of their logs.
SELECT source_id, state FROM cursors WHERE length(state) > 0

-- name: rewrite_state
-- A reader's state; whoever reads that log now has to begin from it.
UPDATE cursors SET state = ?, version = version + 1 WHERE source_id = ?

-- name: files_of
-- The archive's files in which anything of these memories stands.
SELECT DISTINCT file FROM blocks
WHERE id IN (SELECT abs(block) FROM memories WHERE block IS NOT NULL AND memory_id IN (SELECT value FROM json_each(?)))

-- name: blocks_of
-- The blocks of an archive's file, in order.
SELECT id, file, byte_offset, byte_length FROM blocks WHERE file = ? ORDER BY byte_offset

-- name: archive_files
-- The files that hold anything.
SELECT DISTINCT file FROM blocks

-- name: block
-- Where a block stands.
SELECT file, byte_offset, byte_length FROM blocks WHERE id = ?

-- name: insert_block
-- A new block.
INSERT INTO blocks (file, byte_offset, byte_length) VALUES (?, ?, ?)

-- name: move_block
-- A block in another file.
UPDATE blocks SET file = ?, byte_offset = ?, byte_length = ? WHERE id = ?

-- name: drop_block
-- A block of which nothing is left.
DELETE FROM blocks WHERE id = ?

-- name: to_archive
-- Old raw memories that say something here.
SELECT {memory_columns} FROM memories NOT INDEXED LEFT JOIN sources ON sources.id = source
WHERE seq > :after AND type = 'raw' AND block IS NULL AND day < :before AND (content <> '' OR extra IS NOT NULL)
ORDER BY seq LIMIT :page

-- name: archive_memory
-- What it says stands in that block now.
UPDATE memories SET content = '', extra = NULL, block = ? WHERE seq = ?

-- name: insert_ref
-- A ref of a memory that this transaction stored (one that was there already keeps the refs it has).
INSERT OR IGNORE INTO memory_refs (ref_id, seq)
SELECT :ref_id, seq FROM memories WHERE memory_id = :memory_id AND seq > :before

-- name: respan_memory
-- A raw memory's new place in its rewritten log.
UPDATE memories
SET source = :source, span_offset = :offset, span_length = :length, span_sha256 = :sha256, span_table = :table,
    span_row = :row
WHERE memory_id = :memory_id AND type = 'raw'

-- name: amend_memory
-- What an amendment may change.
UPDATE memories
SET ok = :ok, origin = :origin, trust = :trust, content = :content, status = :status, extra = :extra, block = -abs(block)
WHERE memory_id = :memory_id

-- name: drop_refs
-- The refs that a derived memory is about to replace.
DELETE FROM memory_refs WHERE (ref_id, seq) IN (
  SELECT value, seq FROM memories, json_each(extra, '$.ref_ids')
  WHERE memory_id = ? AND memories.type <> 'raw' AND status <> 'forgotten'
)

-- name: replace_memory
-- A derived memory as it reads now, in its place; what a person had forgotten, pinned meanwhile or recalled later stays so.
UPDATE memories
SET type = ?2, agent = ?3, day = ?4, status = CASE WHEN pinned > ?26 THEN status ELSE ?5 END, filed = ?6, role = ?7,
    origin = ?8, trust = ?9, session_id = ?10, task_id = ?11, at = ?12, received_at = ?13, ok = ?14, tool = ?15,
    project = ?16, source = ?17, span_offset = ?18, span_length = ?19, span_sha256 = ?20, span_table = ?21,
    span_row = ?22, confidence = ?23, content = ?24, extra = ?25,
    recalled_at = coalesce(max(recalled_at, ?27), recalled_at, ?27)
WHERE memory_id = ?1 AND type <> 'raw' AND status <> 'forgotten'

-- name: set_status
-- Where a memory stands in its life; dreamt is only what is fresh still, not what was withdrawn meanwhile, and nothing
-- that was superseded or withdrawn is long-term again.
UPDATE memories SET status = :status
WHERE memory_id = :memory_id AND (:status <> 'dreamt' OR status = 'fresh')
  AND (:status <> 'long_term' OR status NOT IN ('superseded', 'withdrawn'))

-- name: set_filed
-- A daily has been written from these.
UPDATE memories SET filed = 1 WHERE memory_id IN (SELECT value FROM json_each(:ids))

-- name: set_pin
-- An insight is pinned, or no longer; what does not stand any more is not pinned.
UPDATE memories SET pinned = :pinned WHERE memory_id = :memory_id AND type = 'insight' AND status <> 'forgotten'
  AND NOT (:pinned AND status IN ('superseded', 'withdrawn'))

-- name: set_recalled
-- An insight was recalled then; an earlier recall changes nothing.
UPDATE memories SET recalled_at = max(coalesce(recalled_at, :at), :at)
WHERE memory_id = :memory_id AND status <> 'forgotten'

-- name: count_new
-- Add this transaction's new raw memories to the counts of their days.
INSERT INTO day_counts (agent, day, origin, memories, unfiled)
SELECT agent, day, coalesce(origin, ''), count(*), sum(1 - filed) FROM memories NOT INDEXED
WHERE seq > :before AND type = 'raw' AND status NOT IN ('withdrawn', 'forgotten')
GROUP BY 1, 2, 3
ON CONFLICT (agent, day, origin) DO UPDATE
SET memories = memories + excluded.memories, unfiled = unfiled + excluded.unfiled

-- name: count_again
-- Take the named raw memories out of the counts (sign -1) before a change, and put them back (1) after it.
INSERT INTO day_counts (agent, day, origin, memories, unfiled)
SELECT agent, day, coalesce(origin, ''), :sign * count(*), :sign * sum(1 - filed) FROM memories
WHERE memory_id IN (SELECT value FROM json_each(:ids)) AND type = 'raw'
  AND status NOT IN ('withdrawn', 'forgotten')
GROUP BY 1, 2, 3
ON CONFLICT (agent, day, origin) DO UPDATE
SET memories = memories + excluded.memories, unfiled = unfiled + excluded.unfiled

-- name: day_counts
-- An agent's days with what they hold, oldest first.
SELECT agent, day, sum(memories), sum(unfiled) FROM day_counts
WHERE agent = :agent AND (:origins IS NULL OR origin IN (SELECT value FROM json_each(:origins)))
GROUP BY day HAVING sum(memories) > 0 ORDER BY day

-- name: cursor_version
-- How often a cursor has been written.
SELECT version FROM cursors WHERE source_id = ?

-- name: replace_cursor
-- A cursor as it stands now.
REPLACE INTO cursors (
  source_id, agent, path, format, device, inode, head_length, head_sha256, byte_offset, tail_length, tail_sha256, state,
  state_offset, version, lines, records, truncated, skipped, read_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: cursors
-- All cursors, or an agent's.
SELECT source_id, agent, path, format, device, inode, head_length, head_sha256, byte_offset, tail_length, tail_sha256,
  state, state_offset, version, lines, records, truncated, skipped, read_at
FROM cursors WHERE :agent IS NULL OR agent = :agent ORDER BY agent, path, source_id

-- name: cursor
-- The cursor of a source.
SELECT source_id, agent, path, format, device, inode, head_length, head_sha256, byte_offset, tail_length, tail_sha256,
  state, state_offset, version, lines, records, truncated, skipped, read_at
FROM cursors WHERE source_id = :source_id AND (:agent IS NULL OR agent = :agent)

-- name: replace_turn
-- Whether a session is in a turn.
REPLACE INTO turns (agent, session_id, busy, at) VALUES (?, ?, ?, ?)

-- name: turns
-- The last known turn of each session.
SELECT agent, session_id, busy, at FROM turns WHERE :agent IS NULL OR agent = :agent ORDER BY agent, session_id

-- name: replace_ledger_row
-- What became of an agent's phase of a day.
REPLACE INTO ledger (agent, day, phase, state, attempts, input_hash, reason, usage, started_at, finished_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: ledger
-- Ledger rows, newest day first.
SELECT agent, day, phase, state, attempts, input_hash, reason, usage, started_at, finished_at FROM ledger
WHERE (:agent IS NULL OR agent = :agent) AND (:phase IS NULL OR phase = :phase) AND (:since IS NULL OR day >= :since)
AND (:state IS NULL OR state = :state)
ORDER BY day DESC, agent, phase

-- name: replace_journal_entry
-- A reply that was paid for.
REPLACE INTO journal (key, job, purpose, reply, at) VALUES (?, ?, ?, ?, ?)

-- name: journal_entry
-- The reply to a prompt that was asked before.
SELECT key, job, purpose, reply, at FROM journal WHERE key = ?

-- name: settle_job
-- Drop the replies of a job that is done.
DELETE FROM journal WHERE job = ?

-- name: replace_line
-- What a line of MEMORY.md rests on.
REPLACE INTO line_evidence (agent, line, ref_ids, day, at) VALUES (?, ?, ?, ?, ?)

-- name: evidence
-- What each line of an agent rests on.
SELECT agent, line, ref_ids, day, at FROM line_evidence WHERE agent = ? ORDER BY rowid

-- name: insert_version
-- A content that MEMORY.md had.
INSERT INTO file_versions (agent, path, author, content, sha256, at, day, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: versions
-- The contents MEMORY.md had, newest first; a limit of -1 is none.
SELECT agent, path, author, content, sha256, at, day, note, version_id FROM file_versions
WHERE agent = :agent ORDER BY version_id DESC LIMIT :limit

-- name: replace_held
-- A rewrite that waits for a person, or what the person decided; a NULL id makes a new row.
REPLACE INTO held (agent, day, path, base_sha256, content, diary, reason, detail, at, state, held_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: held
-- Rewrites that wait or waited, newest first.
SELECT agent, day, path, base_sha256, content, diary, reason, detail, at, state, held_id FROM held
WHERE :agent IS NULL OR agent = :agent ORDER BY held_id DESC

-- name: insert_contradiction
-- Two insights that cannot both hold, once, whichever comes first.
INSERT INTO contradictions (agent, left_id, right_id, reason, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: contradictions
-- An agent's contradictions, oldest first.
SELECT agent, left_id, right_id, reason, at FROM contradictions WHERE agent = ? ORDER BY at, id

-- name: renew_slot
-- A slot that is held on, or given back with what its call cost.
UPDATE slots SET held_until = :held_until, input_tokens = :input_tokens, output_tokens = :output_tokens, told = :told
WHERE slot_id = :slot_id

-- name: take_slot
-- A slot, if fewer than :most are held in its lane. One held for longer than any lease is of a clock gone wrong.
INSERT INTO slots (slot_id, lane, agent, purpose, began_at, held_until, input_tokens, output_tokens, told)
SELECT :slot_id, :lane, :agent, :purpose, :began_at, :held_until, :input_tokens, :output_tokens, :told
WHERE :most IS NULL
  OR (SELECT count(*) FROM slots WHERE lane = :lane AND held_until > :began_at AND held_until <= :longest) < :most

-- name: drop_old_slots
-- What no budget counts any more.
DELETE FROM slots WHERE began_at < ?

-- name: slots
-- Slots not given back, the longest held first.
SELECT slot_id, lane, agent, purpose, began_at, held_until, input_tokens, output_tokens, told FROM slots
WHERE held_until IS NOT NULL ORDER BY began_at, slot_id

-- name: spent
-- What the calls begun since then cost, of each agent.
SELECT agent, count(*), sum(input_tokens), sum(output_tokens), sum(NOT told), min(began_at) FROM slots
WHERE began_at >= ? GROUP BY agent ORDER BY agent

-- name: replace_meta
-- A remembered value.
REPLACE INTO meta (key, value) VALUES (?, ?)

-- name: meta
-- A remembered value.
SELECT value FROM meta WHERE key = ?

-- name: record_migration
-- A migration that has been applied.
INSERT INTO migrations (number, name, sha256) VALUES (?, ?, ?)
