// Starts telegram-test-api on a port of the loopback interface, prints the port, and ends when its standard input does.
// Argument: the directory that it is installed in.
import net from 'node:net'
import path from 'node:path'
import { createRequire } from 'node:module'

const TelegramServer = createRequire(path.join(process.argv[2], 'package.json'))('telegram-test-api')

// It wants to know its port before, and keeps what nobody fetches for a minute only.
const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (...args) {
  const done = args.find((a) => typeof a === 'function')
  return listen.call(this, { port: 0, host: '127.0.0.1' }, () => {
    console.log(this.address().port)
    done?.()
  })
}
await new TelegramServer({ port: 0, host: '127.0.0.1', storeTimeout: 600 }).start()
process.stdin.on('end', () => process.exit()).resume()
