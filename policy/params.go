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
	paramGatewayURL
	paramProjectGitURL
	paramInvoke
	paramRuntime
	paramModel
	paramCount
)

// knownParam is paramCount for a name that is none of them.
func knownParam(name []byte) param {
	switch string(name) {
	case "url":
		return paramURL
	case "targetUrl":
		return paramTargetURL
	case "uri":
		return paramURI
	case "path":
		return paramPath
	case "file_path":
		return paramFilePath
	case "filePath":
		return paramFilePathCamel
	case "file":
		return paramFile
	case "action":
		return paramAction
	case "sessionKey":
		return paramSessionKey
	case "session":
		return paramSession
	case "target":
		return paramTarget
	case "key":
		return paramKey
	case "label":
		return paramLabel
	case "agentId":
		return paramAgentID
	case "gatewayUrl":
		return paramGatewayURL
	case "invokeCommand":
		return paramInvoke
	case "projectGitUrl":
		return paramProjectGitURL
	case "runtime":
		return paramRuntime
	case "model":
		return paramModel
	}
	return paramCount
}

// params are where the known members that are strings stand in a call's text.
type params [paramCount]struct{ from, to int }

// set keeps the first of members with the same name.
func (p *params) set(name param, from, to int) {
	if p[name].to == 0 {
		p[name].from, p[name].to = from, to
	}
}
