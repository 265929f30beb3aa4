package redact_test

// reachShapes are secrets that reach further than the word by which they are
// found first. Each row was once shown in part.
var reachShapes = []string{
	// A block that begins where a value was given.
	"PRIVATE_KEY=«-----BEGIN» RSA PRIVATE KEY-----«\nMIIabc\n»-----END RSA PRIVATE KEY-----",
	"private_key: «-----BEGIN» PRIVATE KEY-----«\nMIIabc\nMIIdef\n»-----END PRIVATE KEY-----",
	"private_key: '«-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nno end»",
	`PRIVATE_KEY=«-----BEGIN» PRIVATE KEY-----«\nMIIabc\n»-----END PRIVATE KEY-----`,
	`expect -c 'spawn su; expect "Password:"«; send »"«hunter2»\r"'`,
	`token: «Basic» «Ym9iOmh1bnRlcjI=»`, `api_key: «Bearer» «abcdef0123456789abcd»`,
	// A word that a shell reads in several pieces.
	`PASSWORD=«'it'\''s hunter2'» run`, `PASSWORD=«"a"'b c'"d e"» run`, `PASSWORD=«'a'b"c d"» run`, `PASSWORD=«hunter\ 2\ 3» run`, `bash -c "PASSWORD=«'it'\''s'» run"`,
	`curl -u bob:«hunter\ 2» x`,
}

// laterShapes were shown as well.
var laterShapes = []string{
	// A name that is a value itself.
	`{"name":"DB_PASSWORD","value":"«hunter2»"}`, "- name: DB_PASSWORD\n  value: «hunter2»\n- name: TZ\n  value: UTC", `[{"name": "API_TOKEN", "value": "«abc»"}]`, "- name: DB_PASSWORD\n  valueFrom: x",
	// Names that say which one it is.
	`PASSWORD_1=«hunter2» run`, `DB_PASSWORD_PROD=«hunter2» run`, `TOKEN_V2=«abc» run`, `SECRET2: «abc»`, `password_confirmation=«hunter2»`, `DB_PASS_2=«hunter2» run`, `{"secretValue":"«abc»","tokenType":"x","passwordPolicy":"y"}`,
	`password_hint=dog`, `token_count=5 tokens_max=3`, `secret_name=x`, `password_file=/run/p`,
	// Keys of other forms.
	"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----«\nMIIabc\n»---- END SSH2 ENCRYPTED PRIVATE KEY ----", "Private-Lines: 1\n«AAAB\n»Private-MAC: 0", "----- BEGIN PRIVATE KEY -----«\nMIIabc»",
	`«xoxc-1234567890-abcdef0123»`,
	// What a shell puts in.
	`TOKEN="$(echo «abc»)" run`, `TOKEN=$(printf '%s' «abc») run`, `TOKEN=$(cat f) run`, `TOKEN=«${X:-abc}» run`, `TOKEN=${X:-$Y} run`, `TOKEN=${X:-} run`,
	// Programs.
	`curl bob:«hunter2»@x.example/a`, `sftp bob:«hunter2»@h`, `wget -q bob:«hunter2»@x.example`, `curl https://x.example/@a/b`, `curl localhost:8080/@a`, `sftp bob@h:/x`,
	`ansible-vault encrypt_string '«hunter2»'`, `echo «hunter2» | ansible-vault encrypt_string`,
}
