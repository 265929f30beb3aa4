// Secrets in what a tool returned, told by their form alone: the server learns that there was one, and never the text. The
// server's redact.Bears is the other implementation, and docs/spec/secret-vectors.json holds both to it.
// The list is written from hook/secretforms.json by `make docs`.

const forms = [
	/-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/,
	/\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/,
	/\bgh[opusr]_[A-Za-z0-9]{36}/,
	/\bgithub_pat_[A-Za-z0-9_]{40}/,
	/\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20}/,
	/\bxox[abeoprs]-[A-Za-z0-9-]{10}/,
	/\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+/,
	/\bhooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9+\/]{40}/,
	/\bsk-(?:ant-|proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32}/,
	/\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10}/,
	/\bAIza[A-Za-z0-9_-]{35}/,
	/\bGOCSPX-[A-Za-z0-9_-]{20}/,
	/\bya29\.[A-Za-z0-9_-]{20}/,
	/\bnpm_[A-Za-z0-9]{36}/,
	/\bpypi-AgEI[A-Za-z0-9_-]{50}/,
	/\bhf_[A-Za-z]{34}/,
	/\bdop_v1_[a-f0-9]{64}/,
	/\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}/,
	/\bkey-[a-f0-9]{32}\b/,
	/\bhvs\.[A-Za-z0-9_-]{90}/,
	/\bAGE-SECRET-KEY-1[A-Z0-9]{58}/,
	/\b\d{8,10}:AA[A-Za-z0-9_-]{33}/,
	/\beyJ[A-Za-z0-9_-]{8,8192}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{16}/,
];

// bearsSecret reports whether a text holds a secret.
export function bearsSecret(text) {
	return forms.some((form) => form.test(text));
}
