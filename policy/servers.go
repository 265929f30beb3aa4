package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// MCP is the part of the policy about servers of tools that speak the Model Context Protocol.
type MCP struct {
	// Servers are those that the owner says something of, by the names that the owner calls them.
	Servers map[string]Server `yaml:"servers"`
}

// Server is what the owner says of a server of tools.
type Server struct {
	// Trust is the level of what all its tools return, and its resources and prompts. Nil: as the shipped table has it,
	// else untrusted. trust.tools says it for one tool.
	Trust *taint.Level `yaml:"trust"`
}

// served are the tools of well-known servers that only read, and those that can't be undone. All others are a source and a
// sink, as every tool that nothing is known of. Any server can have any name: a file in a repository may call a server on
// the web "time". So none of these brings in anything better than external, and until the owner's config names the server,
// each acts and sends what it is given off the machine, as [byNameOnly] has it.
var served = slices.Concat(
	ofServer("filesystem", external, safe, "reads files that anyone may have written",
		"read_file read_text_file read_media_file read_multiple_files list_directory list_directory_with_sizes directory_tree search_files get_file_info list_allowed_directories"),
	ofServer("git", external, safe, "reads a repository that anyone may have written", "git_status git_diff_unstaged git_diff_staged git_diff git_log git_show"),
	ofServer("github", untrusted, fetches, "reads what anyone wrote there; the query can carry data out",
		"get_me get_file_contents get_issue get_issue_comments list_issues search_issues issue_read get_pull_request list_pull_requests get_pull_request_files get_pull_request_status get_pull_request_comments "+
			"get_pull_request_reviews get_pull_request_diff search_pull_requests pull_request_read list_commits get_commit list_branches list_tags list_releases search_repositories search_code search_users"),
	ofServer("github", untrusted, destroys, "can't be undone", "merge_pull_request delete_file"),
	ofServer("fetch", untrusted, fetches, "gets a page: nothing changes, but the address can carry data out", "fetch"),
	ofServer("slack", external, fetches, "reads what others wrote", "slack_list_channels slack_get_channel_history slack_get_thread_replies slack_get_users slack_get_user_profile"),
	ofServer("gmail", untrusted, fetches, "reads mail", "search_emails read_email list_email_labels"),
	ofServer("gmail", untrusted, destroys, "can't be undone", "delete_email batch_delete_emails delete_label delete_filter"),
	ofServer("playwright", untrusted, safe, "looks at the page that is open", "browser_snapshot browser_take_screenshot browser_console_messages browser_network_requests"),
	ofServer("puppeteer", untrusted, safe, "looks at the page that is open", "puppeteer_screenshot"),
	ofServer("memory", external, safe, "reads what earlier conversations kept", "read_graph search_nodes open_nodes"),
	ofServer("memory", external, destroys, "can't be undone", "delete_entities delete_observations delete_relations"),
	ofServer("notion", untrusted, fetches, "reads what anyone wrote there; the query can carry data out",
		"api-get-user api-get-users api-get-block-children api-retrieve-a-block api-retrieve-a-page api-retrieve-a-page-property api-retrieve-page-markdown api-retrieve-a-comment "+
			"api-retrieve-a-data-source api-retrieve-a-database api-list-data-source-templates"),
	ofServer("notion", untrusted, destroys, "can't be undone", "api-delete-a-block api-move-page api-patch-page api-update-a-block api-update-a-data-source api-update-page-markdown"),
	ofServer("context7", untrusted, fetches, "reads documentation that anyone may have written; the query can carry data out", "resolve-library-id query-docs"),
	ofServer("time", external, safe, "tells the time", "get_current_time convert_time"),
)

func ofServer(server string, response taint.Level, kind traits, reason, tools string) (out []facts) {
	for tool := range strings.FieldsSeq(tools) {
		out = append(out, facts{serverPrefix + server + "__" + tool, response, kind, reason})
	}
	return out
}

// byNameOnly is what holds of a tool whose server the owner's config does not name: what it returns, and that it can't be
// undone. In all else it is a tool that nothing is known of.
func byNameOnly(f facts) facts {
	destructive := f.destructive
	f.traits = unknownTool.traits
	f.destructive = destructive
	return f
}

const serverPrefix = "mcp__"

// serverOf is the name under which a server's tools are known as a whole, where a tool is one of a server's.
func serverOf(tool string) (string, bool) {
	rest, ok := strings.CutPrefix(tool, serverPrefix)
	server, _, found := strings.Cut(rest, "__")
	return serverPrefix + server + "__", ok && found && server != ""
}

// readServers lays what the owner says of servers over the shipped table.
func (b *builder) readServers() {
	for _, key := range slices.Sorted(maps.Keys(b.config.MCP.Servers)) {
		path, level := "mcp.servers."+key, b.config.MCP.Servers[key].Trust
		name := strings.ToLower(key)
		all, ok := serverOf(serverPrefix + name + "__")
		switch {
		case !ok || all != serverPrefix+name+"__" || strings.TrimSpace(name) != name || strings.Contains(name, "__"):
			b.fail(path, "is no name of a server: use the one in the middle of mcp__server__tool")
			continue
		case b.tools[all] != nil:
			b.fail(path, "is there twice")
			continue
		case level == nil:
			b.fail(path, "says nothing: give it a trust")
			continue
		}
		b.checkLevel(path+".trust", *level)
		f := unknownTool
		f.name, f.response, f.reason = all, *level, "you trust what its server returns as far as "+level.String()
		b.tools[all], b.known[all] = &f, true
		b.addListed(all, *level)
		for _, f := range served {
			if of, _ := serverOf(f.name); of == all {
				f.response = *level
				b.tools[f.name] = &f
			}
		}
	}
}

// unknownFacts are those of a tool that is in no table. What the owner says of its server counts.
func (b *builder) unknownFacts(name string) *facts {
	f := unknownTool
	if _, listed := cutListed(name); listed {
		f = b.listedFacts(name)
	} else if server, ok := serverOf(name); ok && b.tools[server] != nil {
		f.response = b.tools[server].response
	}
	f.name = name
	return &f
}

var isServed = func() map[string]bool {
	out := make(map[string]bool, len(served))
	for i := range served {
		out[served[i].name] = true
	}
	return out
}()
