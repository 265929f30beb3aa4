package policy

// param is a member at the top of a call's params that the policy knows by
// name. They are kept during the one walk over the call.
type param uint8

const (
	paramURL param = iota
	paramTargetURL
	paramURI
	paramPath
	paramFilePath
	paramFilePathCamel
	paramFile
	paramAction
	paramSessionKey
	paramSession
	paramTarget
	paramKey
	paramLabel
	paramAgentID
	paramCount
)

// knownParam is paramCount for a name that is none of them.
func knownParam(name []byte) param {
	for p, known := range paramNames {
		if string(name) == known {
			return param(p)
		}
	}
	return paramCount
}

var paramNames = [paramCount]string{
	paramURL: "url", paramTargetURL: "targetUrl", paramURI: "uri",
	paramPath: "path", paramFilePath: "file_path", paramFilePathCamel: "filePath", paramFile: "file",
	paramAction:     "action",
	paramSessionKey: "sessionKey", paramSession: "session", paramTarget: "target", paramKey: "key",
	paramLabel: "label", paramAgentID: "agentId",
}

// params are where the known members that are strings stand in a call's text.
type params [paramCount]struct{ from, to int }

// set keeps the first of members with the same name.
func (p *params) set(name param, from, to int) {
	if p[name].to == 0 {
		p[name].from, p[name].to = from, to
	}
}
