// Drives discord-digital-twin for the channel's tests: node standin.mjs <directory with node_modules>. It prints the port of
// its own door, through which tests make a Discord of their own and act in it as people.
import http from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const twin = path.join(process.argv[2], 'node_modules/discord-digital-twin/dist/index.js')
const { DigitalDiscord, generateSnowflake } = await import(pathToFileURL(twin))

const worlds = new Map()
const EPHEMERAL = 1 << 6

const doors = {
  async new({ token, bot, users, room, db }) {
    const discord = new DigitalDiscord({
      botToken: token, botUser: { id: bot, username: 'verifier-test' }, dbUrl: db,
      channels: [{ id: room, name: 'approvals', type: 0 }], users,
    })
    await discord.start()
    for (const u of users) { // it makes no direct messages by itself
      await discord.prisma.channel.create({ data: { id: '7000' + u.id, guildId: null, type: 1 } })
    }
    worlds.set(token, { discord, by: new Map() })
    return { url: discord.restUrl.replace(/\/api$/, '') }
  },

  async messages({ token }) {
    const { discord, by } = worlds.get(token)
    const answers = await discord.prisma.interactionResponse.findMany()
    const only = new Map(answers.filter((a) => a.type === 4).map((a) => [a.messageId, by.get(a.interactionId)]))
    const found = await discord.prisma.message.findMany({ where: { authorId: discord.botUserId } })
    return found.sort((a, b) => Number(BigInt(a.id) - BigInt(b.id))).map((m) => ({
      id: m.id, channel: m.channelId, content: m.content, flags: m.flags, components: JSON.parse(m.components),
      replyTo: m.messageReference ? JSON.parse(m.messageReference).message_id : '',
      only: m.flags & EPHEMERAL ? only.get(m.id) ?? '' : '',
    }))
  },

  async act({ token, user, channel, message, type, data }) {
    const { discord, by } = worlds.get(token)
    const made = await discord.simulateInteraction({ type, channelId: channel, userId: user, messageId: message || undefined, data })
    by.set(made.id, user)
    return { id: made.id }
  },

  async answer({ token, id }) {
    const a = await worlds.get(token).discord.prisma.interactionResponse.findUnique({ where: { interactionId: id } })
    return { type: a.acknowledged ? a.type : 0, data: a.data ? JSON.parse(a.data) : {} }
  },

  async connected({ token }) {
    return { yes: worlds.get(token).discord.server.gateway.clients.some((c) => c.identified) }
  },

  // It passes lines on without the message that they answer, so that is added here.
  async say({ token, user, channel, replyTo, text }) {
    const { discord } = worlds.get(token)
    const who = await discord.prisma.user.findUnique({ where: { id: user } })
    const bot = { id: discord.botUserId, username: 'verifier-test', bot: true }
    const line = {
      id: generateSnowflake(), channel_id: channel, content: text, type: 0, mentions: [], timestamp: new Date().toISOString(),
      author: { id: who.id, username: who.username, bot: who.bot },
    }
    if (!channel.startsWith('7000')) line.guild_id = discord.guildId
    if (replyTo) {
      Object.assign(line, { type: 19, mentions: [bot], message_reference: { message_id: replyTo, channel_id: channel } })
      line.referenced_message = { id: replyTo, channel_id: channel, content: '', author: bot }
    }
    discord.server.gateway.broadcast('MESSAGE_CREATE', line)
    return { id: line.id }
  },

  async end({ token }) {
    await worlds.get(token).discord.stop()
    await worlds.get(token).discord.prisma.$disconnect()
    worlds.delete(token)
    return {}
  },
}

const server = http.createServer(async (req, res) => {
  try {
    let text = ''
    for await (const part of req) text += part
    res.end(JSON.stringify(await doors[req.url.slice(1)](JSON.parse(text))))
  } catch (err) {
    res.statusCode = 500
    res.end(String(err?.stack ?? err))
  }
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
