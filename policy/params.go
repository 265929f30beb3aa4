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

var paramNames = map[string]param{
	"url": paramURL, "targetUrl": paramTargetURL, "uri": paramURI,
	"path": paramPath, "file_path": paramFilePath, "filePath": paramFilePathCamel, "file": paramFile,
	"action":     paramAction,
	"sessionKey": paramSessionKey, "session": paramSession, "target": paramTarget, "key": paramKey,
	"label": paramLabel, "agentId": paramAgentID,
}

// params are where the known members that are strings stand in a call's text.
type params [paramCount]struct{ from, to int }

// set keeps the first of members with the same name.
func (p *params) set(name param, from, to int) {
	if p[name].to == 0 {
		p[name].from, p[name].to = from, to
	}
}
