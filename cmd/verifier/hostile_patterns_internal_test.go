package main

import (
	"strings"
	"testing"
)

// TestH205NoPatternReachesWhatIsGuarded: in a clean conversation, with nothing configured, the owner's token is not read by a name that a shell works out.
func TestH205NoPatternReachesWhatIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := ownerIn("h205")
	dir := r.state.Dir()
	at := strings.LastIndexByte(dir, '/')
	open := dir[:at+2] + "*" // the first letter of its name, and anything
	for _, command := range []string{
		"cat " + open + "/own*", "cat " + open + "/*", "cat " + dir[:at] + "/*/owner.token", "cat " + dir[:at] + "/{" + dir[at+1:] + ",}/{owner,}.token", "d=" + dir[at+1:] + "; cat " + dir[:at] + "/$d/owner.token",
		"find " + dir[:at] + " -name 'own*' | xargs cat", "find " + dir[:at] + " -type f -exec cat {} +", "grep -r '' " + dir[:at], "cd " + dir[:at] + " && cat */own*", "rm -rf " + open + "/*", "echo x > " + open + "/owner.token", "tar czf - " + dir[:at],
		"find / -name 'owner.toke?' -exec cat {} +", "find / -name 'owner.toke?' -exec sed -i s/./x/ {} +", "find . -maxdepth 0 -exec cat " + open + "/own* \\;", "x=-u; find " + dir[:at] + " -type f -exec cat $x {} +", "sed -i s/./x/ " + open + "/owner.token",
		"echo " + open + "/own* | xargs cat", "realpath " + open + "/own* | xargs cat", "cd " + open + " && echo x > owner.token", "cd " + open + " && rm owner.token", "rg . " + dir[:at], "rg --files " + dir[:at] + " | xargs cat", "fd . " + dir[:at] + " -x cat",
		"cp -r " + dir[:at] + " x/", "mv " + dir[:at] + " x", "ln -s " + dir[:at] + " x.", "tar -C " + dir[:at] + " -cf x.tar .", "grep -rE '(abc){0,1}' " + dir[:at], "sed -i s/true/false/ ~/.openclaw/open*", "find ~ -name 'openclaw.jso?' -exec cp evil {} \\;",
		"rm -rf " + dir[:at], "rm -rf ~", "rm -rf /", "sudo rm -r -f " + dir[:at] + "/", "cd " + dir[:at] + " && rm -rf .", "chmod -R 000 " + dir[:at], "chown -R nobody /", "chmod 000 " + dir[:at], "find " + dir[:at] + " -type f -delete", "find -L " + dir[:at] + " -delete", "shred -u " + open + "/*", "bash -c 'rm -rf " + dir[:at] + "'", "rsync -a --delete empty/ " + dir[:at] + "/",
		"cat ~/.openclaw/open*", "cat ~/.opencl*/cred*/whatsapp/creds.json",
	} {
		if a := r.deny(bash(t, command, m)); a.Ref != "" || !strings.Contains(a.Reason, "Not permitted here") {
			t.Errorf("%s: %s", command, a.raw)
		}
	}
	for _, command := range []string{"cp -r src dist/", "mv a b", "cd /tmp/build/* && ls", "echo *", "cat *.md", "cat src/*.go", "ls /tmp/*", "rm -rf /tmp/build/*", "rm -rf node_modules dist", "chmod -R u+w build", "find . -name '*.o' -delete", "find /tmp/build -delete", "chmod 600 ~/.ssh/config", "grep -rn foo ~", "cat ~/.openclaw/workspace/*.md", "find ~ -name '*.md' | xargs grep -n foo"} {
		r.allow(bash(t, command, m))
	}
}
