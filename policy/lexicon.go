package policy

import (
	"bytes"
	"strings"
)

// entry is what a word on a command line means.
type entry struct {
	leads      bool            // the command that it runs, or finds, follows
	fetches    bool            // brings content from outside, wherever it stands
	command    bool            // so it does where a command stands; elsewhere it is a plain word
	interprets bool            // runs what is piped into it
	destroys   bool            // can't be undone
	fetchesBy  map[string]bool // subcommands that fetch
	destroysBy map[string]bool // subcommands and options that destroy
}

const (
	prefixWords = `sudo doas env nohup time timeout nice ionice setsid stdbuf xargs exec command builtin then do else if while until watch
		which whereis type alias eval sh bash zsh dash ash ksh fish busybox cmd powershell pwsh start chroot unshare su runuser -c /c`

	// Text that a command decodes and runs counts as fetched: what it says
	// can't be read.
	fetcherWords = `curl wget wget2 aria2c axel httpie xh xhs curlie
		ssh scp sftp rsync rclone ftp lftp tftp telnet nc ncat netcat socat mosh croc
		svn hg npx pnpx bunx uvx pipx gh glab aws gcloud gsutil az kubectl helm gog himalaya neomutt mutt mailx fetchmail
		lynx w3m elinks yt-dlp youtube-dl gallery-dl
		iwr irm iex invoke-webrequest invoke-restmethod start-bitstransfer certutil bitsadmin mshta net.webclient
		nslookup whois drill
		urllib urllib2 urllib3 urllib.request requests.get requests.post requests.session httpx aiohttp axios axios.get fetch
		net::http open-uri io::socket http.client socket socket.socket socket.create_connection net.connect net.dial net.createconnection
		base64 xxd uudecode eval openclaw`

	commandWords     = "http https links mail host dig"
	interpreterWords = "sh bash zsh dash ash ksh fish python perl ruby node php pwsh powershell"

	destroyerWords = `rm rmdir unlink shred srm mkfs mkfs.ext4 mkfs.xfs mkfs.vfat mkfs.btrfs dd wipefs fdisk parted truncate del erase rd
		shutdown reboot halt poweroff userdel dropdb killall pkill crontab visudo iptables remove-item`
)

// installers fetch with some of their subcommands; names that share a habit
// share a line.
var installers = map[string]string{
	"git":                           "clone pull fetch ls-remote submodule remote archive lfs",
	"pip":                           "install download search index",
	"uv":                            "install add sync run tool",
	"npm pnpm yarn bun":             "install i add ci exec x update view info search",
	"cargo":                         "install add fetch update search",
	"go":                            "get install download",
	"gem bundle":                    "install fetch update",
	"brew":                          "install update upgrade fetch info search",
	"apt apt-get aptitude":          "install update upgrade search download",
	"apk":                           "add update upgrade fetch search",
	"dnf yum zypper":                "install update upgrade search download",
	"pacman":                        "-s -sy -syu -ss",
	"snap flatpak":                  "install refresh update find search",
	"conda mamba micromamba":        "install create update search",
	"poetry pdm rye composer":       "install add update require",
	"docker podman nerdctl":         "pull run build search exec compose",
	"terraform":                     "init",
	"ansible ansible-pull":          "pull galaxy",
	"deno":                          "run install add",
	"playwright":                    "install open codegen",
	"openssl":                       "s_client enc base64",
	"python perl ruby node php lua": "http.server lwp::simple",
}

// destroying are subcommands and options that can't be undone.
var destroying = map[string]string{
	"git":                   "reset clean --force -f --force-with-lease filter-branch",
	"kubectl":               "delete drain",
	"terraform":             "destroy",
	"docker podman nerdctl": "rm rmi prune kill",
	"find":                  "-delete",
	"drop":                  "table database schema",
	"systemctl":             "stop disable mask",
	"gh aws gcloud az":      "delete rm rb terminate-instances",
}

// lexicon is all of the above by word.
var lexicon = func() map[string]*entry {
	all := map[string]*entry{}
	each := func(list string, mark func(*entry)) {
		for w := range strings.FieldsSeq(list) {
			if all[w] == nil {
				all[w] = &entry{}
			}
			mark(all[w])
		}
	}
	each(prefixWords, func(e *entry) { e.leads = true })
	each(fetcherWords, func(e *entry) { e.fetches = true })
	each(commandWords, func(e *entry) { e.command = true })
	each(interpreterWords, func(e *entry) { e.interprets = true })
	each(destroyerWords, func(e *entry) { e.destroys = true })
	for names, subs := range installers {
		each(names, func(e *entry) { e.fetchesBy = words(subs) })
	}
	for names, subs := range destroying {
		each(names, func(e *entry) { e.destroysBy = words(subs) })
	}
	return all
}()

// shapes says, by first letter, how long the words of the lexicon are: most
// words of a text are none of them, and need not be looked up.
var shapes = func() (lengths [256]uint64) {
	for w := range lexicon {
		lengths[w[0]] |= 1 << len(w)
	}
	return lengths
}()

// lookUp finds a word, also as pip for pip3.11 and python for python3.
func lookUp(w []byte) *entry {
	if e := exactly(w); e != nil {
		return e
	}
	if n := len(w); n == 0 || w[n-1] > '9' {
		return nil
	}
	return exactly(bytes.TrimRight(w, "0123456789."))
}

func exactly(w []byte) *entry {
	if len(w) == 0 || len(w) > 63 || shapes[w[0]]&(1<<len(w)) == 0 {
		return nil
	}
	return lexicon[string(w)]
}
