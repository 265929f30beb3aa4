package policy

import "strings"

// entry is what a word on a command line means.
type entry struct {
	leads      bool // the command that it runs, or finds, follows
	fetches    bool // brings content from outside, wherever it stands
	command    bool // so it does where a command stands; elsewhere it is a plain word
	interprets bool // runs what is piped into it
	destroys   bool // can't be undone

	fetchesBy   habits // what subcommands it fetches with
	destroysBy  habits // what subcommands and options it destroys with
	fetchesFor  habits // the same as seen by the subcommand
	destroysFor habits
}

// habits is a set of lines of installers or of destroying: one bit each. A tool
// and a word after it belong together where they have a line in common.
type habits uint64

const (
	prefixWords = `sudo doas env nohup time timeout nice ionice setsid stdbuf xargs exec command builtin then do else if while until watch
		which whereis type alias eval sh bash zsh dash ash ksh fish busybox cmd powershell pwsh start chroot unshare su runuser -c /c`

	// Text that a command decodes and runs counts as fetched: what it says
	// can't be read.
	fetcherWords = `curl wget wget2 aria2c axel httpie xh xhs curlie
		ssh scp sftp rsync rclone ftp lftp tftp telnet nc ncat netcat socat mosh croc
		svn hg npx pnpx bunx uvx pipx gh glab aws gcloud gsutil az kubectl helm gog himalaya neomutt mutt mailx notmuch mbsync offlineimap gcalcli khal fetchmail
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
	line := habits(1)
	for names, subs := range installers {
		each(names, func(e *entry) { e.fetchesBy |= line })
		each(subs, func(e *entry) { e.fetchesFor |= line })
		line <<= 1
	}
	for names, subs := range destroying {
		each(names, func(e *entry) { e.destroysBy |= line })
		each(subs, func(e *entry) { e.destroysFor |= line })
		line <<= 1
	}
	return all
}()

// slots are the lexicon again: a word stands in its own slot or, where that is
// taken, in the next free one. Most words of a text are none of it, and fall on
// a free slot at once.
var slots = func() (table [slotCount]slot) {
	for w, e := range lexicon {
		i := place([]byte(w))
		for table[i].means != nil {
			i = (i + 1) % slotCount
		}
		table[i] = slot{word: w, means: e}
	}
	return table
}()

const slotCount = 1 << 11

// taken has a bit for each slot that holds a word: in a few cache lines, what most
// words need to be told that they are none.
var taken = func() (bits [slotCount / 64]uint64) {
	for i := range slots {
		if slots[i].means != nil {
			bits[i/64] |= 1 << (i % 64)
		}
	}
	return bits
}()

type slot struct {
	word  string
	means *entry
}

// place is the slot of a word that is not empty, told from its length and a few
// of its letters.
func place(w []byte) uint {
	n := len(w)
	return ((uint(w[0])*31+uint(w[n/2]))*31 + uint(w[n-1])*7 + uint(n)) % slotCount
}

// exactly finds a word as it is written, or nil.
func exactly(w []byte) *entry {
	if len(w) == 0 {
		return nil
	}
	i := place(w)
	if taken[i/64]&(1<<(i%64)) == 0 {
		return nil
	}
	return inSlots(w, i)
}

// inSlots finds a word from its slot on.
func inSlots(w []byte, i uint) *entry {
	for ; slots[i].means != nil; i = (i + 1) % slotCount {
		if slots[i].word == string(w) {
			return slots[i].means
		}
	}
	return nil
}

// lookUp finds a word, also as pip for pip3.11 and python for python3.
func lookUp(t *token) *entry {
	if n := len(t.word); t.means == nil && n > 0 && ofVersion(t.word[n-1]) {
		return exactly(unversioned(t.word))
	}
	return t.means
}

// ofVersion reports whether c can stand in the number of a version.
func ofVersion(c byte) bool { return isDigit(c) || c == '.' }

// unversioned is w without the number that it ends in.
func unversioned(w []byte) []byte {
	for len(w) > 0 && ofVersion(w[len(w)-1]) {
		w = w[:len(w)-1]
	}
	return w
}
