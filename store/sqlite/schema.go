package sqlite

// steps make the database, one version after the other: PRAGMA user_version is
// how many it has been through. What has been released is never changed.
var steps = []string{schema, leases, pausing, noting, naming, influencing, booking, sorting, exposing, renaming, thinning}

// schema is the database. Tables are STRICT, so that what is read has the type
// it was written with, and without a rowid where the key is all that is ever
// asked for. What a call comes to is two rows, the conversation and the request,
// and neither has an index. A conversation's grants are
// deleted with it, also when a person deletes it by hand.
const schema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE heads (name TEXT PRIMARY KEY, head TEXT NOT NULL, noted_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE known (conversation TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
	hash TEXT PRIMARY KEY,
	client TEXT NOT NULL,
	session_key TEXT NOT NULL,
	root_client TEXT,
	root_key TEXT,
	worst INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	version INTEGER NOT NULL,
	step INTEGER NOT NULL,
	source TEXT NOT NULL,
	source_level INTEGER NOT NULL,
	source_step INTEGER NOT NULL,
	touched_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE levels (
	conversation TEXT NOT NULL,
	session TEXT NOT NULL,
	level INTEGER NOT NULL,
	PRIMARY KEY (conversation, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
	conversation TEXT NOT NULL,
	request TEXT NOT NULL,
	body BLOB NOT NULL,
	mark TEXT NOT NULL,
	until_ms INTEGER NOT NULL,
	PRIMARY KEY (conversation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
	conversation TEXT NOT NULL,
	run TEXT NOT NULL,
	calls INTEGER NOT NULL,
	touched_ms INTEGER NOT NULL,
	PRIMARY KEY (conversation, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
	conversation TEXT NOT NULL,
	field TEXT NOT NULL,
	value TEXT NOT NULL,
	until_ms INTEGER,
	PRIMARY KEY (conversation, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE waiting (
	conversation TEXT NOT NULL,
	digest TEXT NOT NULL,
	card TEXT NOT NULL,
	until_ms INTEGER NOT NULL,
	PRIMARY KEY (conversation, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE cards (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	conversation TEXT NOT NULL,
	code_seal TEXT NOT NULL,
	version INTEGER NOT NULL,
	blob BLOB NOT NULL,
	batch INTEGER NOT NULL,
	closed INTEGER NOT NULL,
	until_ms INTEGER NOT NULL,
	keep_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX cards_conversation ON cards (conversation) WHERE NOT closed;
CREATE INDEX cards_code ON cards (code_seal);

CREATE TABLE misses (person TEXT PRIMARY KEY, tries INTEGER NOT NULL, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE automations (
	client TEXT NOT NULL,
	agent TEXT NOT NULL,
	level INTEGER NOT NULL,
	PRIMARY KEY (client, agent)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER forget AFTER DELETE ON conversations BEGIN
	DELETE FROM levels WHERE conversation = old.hash;
	DELETE FROM grants WHERE conversation = old.hash;
	DELETE FROM waiting WHERE conversation = old.hash;
END;

CREATE VIEW overview AS SELECT upper(substr(hash, 1, 8)) AS ref, client, session_key, root_key AS shares_level_of,
	CASE worst WHEN 0 THEN 'system' WHEN 1 THEN 'owner' WHEN 2 THEN 'local'
		WHEN 3 THEN 'shared' WHEN 4 THEN 'external' ELSE 'untrusted' END AS level,
	source, step AS calls, datetime(touched_ms / 1000, 'unixepoch') AS last_call
	FROM conversations ORDER BY touched_ms DESC;
`

// leases are who alone may do something, such as listen to a chat.
const leases = `
CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

// pausing keeps the owner's pauses, and when agents asked and were turned away.
const pausing = `
CREATE TABLE pauses (scope TEXT PRIMARY KEY, word TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE questions (agent TEXT NOT NULL, asked_ms INTEGER NOT NULL) STRICT;
CREATE INDEX questions_agent ON questions (agent, asked_ms);
CREATE TABLE refusals (agent TEXT PRIMARY KEY, told_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

// noting keeps what is remembered of turns and texts for a while.
const noting = `
CREATE TABLE notes (number INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL, entry BLOB NOT NULL, until_ms INTEGER NOT NULL) STRICT;
CREATE INDEX notes_list ON notes (list, number);
CREATE INDEX notes_until ON notes (until_ms);
`

// naming has grants that name what they cover, found by when they end. Those of
// before do not, and are over.
const naming = `
DELETE FROM grants;
CREATE INDEX grants_until ON grants (until_ms);
`

// influencing keeps who had a say in a conversation, by session id: see
// session.Influences.
const influencing = `
CREATE TABLE influences (conversation TEXT NOT NULL, session TEXT NOT NULL, list TEXT NOT NULL, PRIMARY KEY (conversation, session)) STRICT, WITHOUT ROWID;
ALTER TABLE conversations ADD COLUMN influences INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER forget_influences AFTER DELETE ON conversations BEGIN
	DELETE FROM influences WHERE conversation = old.hash;
END;
`

// booking keeps what admissions wrote and is not posted to the tables yet: see
// journal.go. People see both as one. A line is written over and over: no NOT
// NULL, which would have SQLite prepare to undo that line alone.
const booking = `
CREATE TABLE daybook (
	line INTEGER PRIMARY KEY,
	unposted INTEGER,
	conversation TEXT,
	request TEXT,
	body BLOB,
	mark TEXT,
	until_ms INTEGER,
	touched_ms INTEGER,
	step INTEGER,
	source_step INTEGER
) STRICT;
DROP VIEW overview;
CREATE VIEW overview AS SELECT upper(substr(hash, 1, 8)) AS ref, client, session_key, root_key AS shares_level_of,
	CASE worst WHEN 0 THEN 'system' WHEN 1 THEN 'owner' WHEN 2 THEN 'local'
		WHEN 3 THEN 'shared' WHEN 4 THEN 'external' ELSE 'untrusted' END AS level,
	source, max(step, ifnull(last_step, 0)) AS calls, datetime(max(touched_ms, ifnull(last_ms, 0)) / 1000, 'unixepoch') AS last_call
	FROM conversations
	LEFT JOIN (SELECT conversation, max(step) AS last_step, max(touched_ms) AS last_ms FROM daybook WHERE unposted GROUP BY conversation)
		ON conversation = hash
	ORDER BY max(touched_ms, ifnull(last_ms, 0)) DESC;
`

// sorting keeps requests by what tells them apart: their ids differ where those
// of conversations are the same, and each comparison ends sooner.
const sorting = `
CREATE TABLE sorted_requests (
	conversation TEXT NOT NULL,
	request TEXT NOT NULL,
	body BLOB NOT NULL,
	mark TEXT NOT NULL,
	until_ms INTEGER NOT NULL,
	PRIMARY KEY (request, conversation)
) STRICT, WITHOUT ROWID;
INSERT INTO sorted_requests (conversation, request, body, mark, until_ms)
	SELECT conversation, request, body, mark, until_ms FROM requests ORDER BY request, conversation;
DROP TABLE requests;
ALTER TABLE sorted_requests RENAME TO requests;
`

// exposing keeps what was read that holds secrets, by session id: see
// session.Exposure.
const exposing = `
CREATE TABLE secrets (conversation TEXT NOT NULL, session TEXT NOT NULL, what TEXT NOT NULL, PRIMARY KEY (conversation, session)) STRICT, WITHOUT ROWID;
CREATE TRIGGER forget_secrets AFTER DELETE ON conversations BEGIN
	DELETE FROM secrets WHERE conversation = old.hash;
END;
`

// renaming gives the table of booking a plain name. The view follows.
const renaming = `
ALTER TABLE daybook RENAME TO journal;
`

// thinning keeps everything as records, see store.Records. What the tables of before hold is put there by carryOver. It is all that a
// new database needs.
const thinning = `
CREATE TABLE records (
	key TEXT PRIMARY KEY,
	version BLOB NOT NULL,
	data BLOB NOT NULL,
	count INTEGER NOT NULL,
	until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE members (key TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (key, member)) STRICT, WITHOUT ROWID;
CREATE TABLE entries (number INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL, entry BLOB NOT NULL, until_ms INTEGER NOT NULL) STRICT;
CREATE INDEX entries_list ON entries (list, number);
CREATE INDEX entries_until ON entries (until_ms);
DROP VIEW IF EXISTS overview;
CREATE VIEW overview AS SELECT upper(substr(key, 6, 8)) AS ref, json ->> '$.name.client' AS client, json ->> '$.name.key' AS session_key,
	json ->> '$.root.key' AS shares_level_of, json ->> '$.worst' AS level, json ->> '$.source.Label' AS source,
	(SELECT count FROM records WHERE key = substr(conversation.key, 1, 3) || 'n:' || substr(conversation.key, 6)) AS calls,
	datetime((json ->> '$.touched') / 1000, 'unixepoch') AS last_call
	FROM (SELECT key, CAST(data AS TEXT) AS json FROM records WHERE key GLOB '??:s:*') AS conversation
	ORDER BY json ->> '$.touched' DESC;
`
