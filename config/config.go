// Package config reads the owner's file and the state directory, and turns
// both into values that the rest of the program can trust.
//
// The file is YAML, and so may be JSON. It is read strictly: an unknown
// key, a key twice, a value of the wrong kind or out of bounds, a variable
// that is not set, a secret that anyone could guess are errors, and each says
// where it is (file:line:col) and what to do. All of them are reported, not
// only the first. What is valid but risky is a [Finding], in words, for
// `verifier check`.
//
// The walk over the file follows the Go types of the configuration, which each
// package owns for itself: there is no second list of keys that could differ.
// Anchors, aliases, merge keys and tags are refused; what is written in the file is
// what holds. The sections of chat channels stay raw until the channel decodes
// them ([Raw]).
//
// Secrets are a type of their own ([Secret]) that prints as [secret] in every
// format. They are in the file, in an environment variable or in a file of
// their own; a file that holds one must not be readable by others.
//
// The package refuses to guess: no failMode (the server always denies), no
// "everybody" (an empty list of approvers is no person at all), no default secret. It
// starts nothing, listens to nothing and keeps nothing but the state directory
// ([State]).
package config

import (
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

// Config is the whole file.
type Config struct {
	// Listen is where the server listens, host:port. Default 127.0.0.1:8787.
	Listen string `yaml:"listen"`
	// TLS is what the server encrypts with. Unset: nothing is encrypted.
	TLS TLS `yaml:"tls"`
	// InsecurePublic lets Listen be an address that others can reach, without
	// TLS: something else keeps them out.
	InsecurePublic bool `yaml:"insecurePublic"`
	// TrustedProxies are the addresses whose word is taken for whom they speak
	// for. Empty: no one's.
	TrustedProxies []string `yaml:"trustedProxies"`
	// OwnerToken lets its holder see and answer cards. Unset: the one in the
	// state directory.
	OwnerToken Secret `yaml:"ownerToken"`
	// Webhook is how calls come in.
	Webhook Webhook `yaml:"webhook"`
	// Policy is the owner's policy; its keys are at the top of the file.
	Policy policy.Config `yaml:",inline"`
	// Agents are settings of single agents, by agent id. What is the policy's of them is in Policy as well.
	Agents map[string]Agent `yaml:"agents"`
	// Include are files with labels of tools, such as `verifier label` writes. What
	// this file says of a tool counts before them.
	Include []string `yaml:"include"`
	// Store is where state is kept.
	Store Store `yaml:"store"`
	// ApprovalTTLSeconds is how long a card may be answered. Default 1800.
	ApprovalTTLSeconds int `yaml:"approvalTtlSeconds"`
	// Approval limits cards and grants.
	Approval approval.Config `yaml:"approval"`
	// Approvers are the people who may answer. Nil, the key is absent: the
	// holder of the owner token, alone. Empty: no person, the owner token included.
	Approvers []Approver `yaml:"approvers"`
	// Channels are the chat services, each in its own words.
	Channels map[string]Raw `yaml:"channels"`
	// Web is the owner's page.
	Web Web `yaml:"web"`
	// Notify is how else people hear that a question waits.
	Notify Notify `yaml:"notify"`
	// Caution says when a second model is asked whether a call fits what the
	// user wanted.
	Caution Caution `yaml:"caution"`
	// Redact says what is hidden from cards, logs and the record. Logs and the record never have file bodies.
	Redact redact.Config `yaml:"redact"`
	// Audit says how the record is kept.
	Audit Audit `yaml:"audit"`
	// Log says how the server's own log is written.
	Log Log `yaml:"log"`

	labelled        map[string]string // tools, by the included file that labels them
	secretFiles     []string
	secretVariables []string
}

// SecretFiles are the files that the config takes values from, and
// SecretVariables the environment variables: a program that reads one may be able to
// approve.
func (c *Config) SecretFiles() []string { return c.secretFiles }

// SecretVariables see SecretFiles.
func (c *Config) SecretVariables() []string { return c.secretVariables }

// Agent is what holds for one agent: what tightens the policy, who answers for it, and where they are asked.
type Agent struct {
	Policy policy.Agent   `yaml:",inline"`
	Asks   approval.Agent `yaml:",inline"`
}

// AskedFor says of single agents who answers for them and where they are asked.
func (c *Config) AskedFor() map[string]approval.Agent {
	out := make(map[string]approval.Agent, len(c.Agents))
	for id, a := range c.Agents {
		out[id] = a.Asks
	}
	return out
}

// Webhook is how calls come in.
type Webhook struct {
	// Path is where calls are posted. Default /verify.
	Path string `yaml:"path"`
	// Secret and Secrets sign the calls of the client "default"; several, so
	// that one can be replaced without a gap.
	Secret  Secret   `yaml:"secret"`
	Secrets []Secret `yaml:"secrets"`
	// Clients have names and secrets of their own, and so conversations of
	// their own.
	Clients map[string][]Secret `yaml:"clients"`
	// RelayApprovals are the platforms, by client, on which the client's word is
	// taken for who typed an answer into its own chat. Empty: none.
	RelayApprovals map[string][]string `yaml:"relayApprovals"`
	// Bearer must be in the Authorization header as well. Unset: nothing.
	Bearer Secret `yaml:"bearer"`
	// Tolerance is how far a call's timestamp may be off. Default 5m.
	Tolerance time.Duration `yaml:"tolerance"`
	// Hold is how long a call waits for a person. Default 25s.
	Hold time.Duration `yaml:"hold"`
	// MaxHold is the longest wait a caller may ask for. Default 590s.
	MaxHold time.Duration `yaml:"maxHold"`
}

// Store is where state is kept.
type Store struct {
	// URL names a Redis: redis:// or rediss://. Unset: SQLite in the state
	// directory. It is a Secret because it may hold a password.
	URL Secret `yaml:"url"`
	// Key is the server key, which instances that share a store must share.
	// Unset: the one in the state directory.
	Key Secret `yaml:"key"`
}

// Approver is one person who may answer.
type Approver struct {
	Name string `yaml:"name"`
	// Users are the person's immutable user ids, by the name of the platform,
	// each a key of its own in the file: telegram: 123456789.
	Users map[string]UserID `yaml:",platforms"`
	// IDs are the same in another spelling, platform:id, such as
	// telegram:123456789; token:owner makes this person the owner token's
	// holder.
	IDs []string `yaml:"ids"`
	// Token lets this person answer in the terminal.
	Token Secret `yaml:"token"`
	// Passkeys lets this person log in on the page with a passkey, to which
	// the owner invites them.
	Passkeys bool `yaml:"passkeys"`
}

// Audit says how the record is kept.
type Audit struct {
	// Path of the record. Empty: record.jsonl in the state directory.
	Path string `yaml:"path"`
	// Params is what the record keeps of arguments. Default redacted.
	Params AuditParams `yaml:"params"`
	// Sync is when a line counts as written. Default none.
	Sync AuditSync `yaml:"sync"`
	// RotateMB is how large the record's file may become before it goes on in a
	// new one. Default 100; 0: as large as it gets.
	RotateMB int `yaml:"rotateMB"`
	// Keep is how many closed files stay. 0: all of them.
	Keep int `yaml:"keep"`
}

// AuditParams is what the record keeps of a call's arguments.
type AuditParams string

// What AuditParams can be.
const (
	ParamsRedacted AuditParams = "redacted" // all of them, secrets hidden
	ParamsNames    AuditParams = "names"    // only what they are called
)

// AuditSync is when a line of the record counts as written.
type AuditSync string

// What AuditSync can be.
const (
	SyncNone AuditSync = "none" // after write(2): survives the death of the process
	SyncEach AuditSync = "each" // after fdatasync: survives a power cut
)

// Log says how the server's own log is written, on standard error.
type Log struct {
	// Format of a line. Default text.
	Format LogFormat `yaml:"format"`
	// Level is the least that is written. Default info.
	Level LogLevel `yaml:"level"`
}

// LogFormat is how a line of the log is written.
type LogFormat string

// What LogFormat can be.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// LogLevel is the least that is logged.
type LogLevel string

// What LogLevel can be.
const (
	LogDebug LogLevel = "debug" // every request
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// Default is the configuration of an empty file.
func Default() *Config {
	return &Config{
		Listen: "127.0.0.1:8787",
		Webhook: Webhook{
			Path:      "/verify",
			Tolerance: 5 * time.Minute,
			Hold:      25 * time.Second,
			MaxHold:   590 * time.Second,
		},
		ApprovalTTLSeconds: 1800,
		Caution: Caution{Defaults: true, Auditor: Auditor{
			TimeoutMs: int(auditor.DefaultTimeout.Milliseconds()), FailMode: AuditorFailMode(auditor.FailBlock),
			Mode: AuditorMode(auditor.Escalate),
		}},
		Web:    Web{Enabled: true, Session: 7 * 24 * time.Hour},
		Notify: Notify{Push: Push{Enabled: true}},
		Redact: redact.Config{ShowFileBodies: true},
		Audit:  Audit{Params: ParamsRedacted, Sync: SyncNone, RotateMB: 100},
		Log:    Log{Format: LogText, Level: LogInfo},
	}
}

// ApprovalTTL is ApprovalTTLSeconds as a duration.
func (c *Config) ApprovalTTL() time.Duration {
	return time.Duration(c.ApprovalTTLSeconds) * time.Second
}
