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
