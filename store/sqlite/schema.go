package sqlite

import "fmt"

// schemaVersion is the database's PRAGMA user_version. Any other is refused.
const schemaVersion = 12

// schema is the database: see store.Records. Tables are STRICT, so that what is read has the type it was written with,
// and without a rowid where the key is all that is ever asked for. The view is for people.
const schema = `
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
CREATE VIEW overview AS SELECT upper(substr(key, 6, 8)) AS ref, json ->> '$.name.client' AS client, json ->> '$.name.key' AS session_key,
	json ->> '$.root.key' AS shares_level_of, json ->> '$.worst' AS level, json ->> '$.source.Label' AS source,
	(SELECT count FROM records WHERE key = substr(conversation.key, 1, 3) || 'n:' || substr(conversation.key, 6)) AS calls,
	datetime((json ->> '$.touched') / 1000, 'unixepoch') AS last_call
	FROM (SELECT key, CAST(data AS TEXT) AS json FROM records WHERE key GLOB '??:s:*') AS conversation
	ORDER BY json ->> '$.touched' DESC;
`

// prepare makes the tables of a new database, wholly or not at all. A database with
// tables and no version was made from a dump: taken for a new one, its levels would be forgotten.
func prepare(d *db) (err error) {
	version, err := versionOf(d)
	if err != nil || version == schemaVersion {
		return err
	}
	if _, err := d.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = d.exec("ROLLBACK") // the first error says what happened
		}
	}()
	tables, err := d.one(`SELECT count(*) FROM sqlite_master`)
	if err != nil {
		return err
	}
	if version != 0 || tables.int(0) > 0 {
		return errSchema(version)
	}
	if err := d.script(fmt.Sprintf("%s PRAGMA user_version = %d;", schema, schemaVersion)); err != nil {
		return err
	}
	_, err = d.exec("COMMIT")
	return err
}

func versionOf(d *db) (int64, error) {
	r, err := d.one(`PRAGMA user_version`)
	if err != nil {
		return 0, err
	}
	return r.int(0), nil
}

func errSchema(version int64) error {
	return fmt.Errorf("%w (schema %d, this one knows %d)\nhint: move it away to start anew; conversations then count as untrusted "+
		"until `verifier serve --accept-loss`", ErrSchema, version, schemaVersion)
}
