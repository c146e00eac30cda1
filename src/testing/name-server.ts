import { createSocket } from 'node:dgram'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { isIPv6 } from 'node:net'

const HEADER_BYTES = 12
const TYPES = { A: 1, AAAA: 28 } as const

/**
 * A DNS server over UDP that every `Resolver` of the process asks until it is disposed of. `answer`
 * gives the addresses of a name, when it will. `asked`: the names that were asked for.
 */
export async function startNameServer(
  answer: (name: string) => Promise<readonly string[]>,
): Promise<AsyncDisposable & { asked: ReadonlySet<string> }> {
  const asked = new Set<string>()
  const socket = createSocket('udp4')
  let open = true
  socket.on('message', async (message, { port, address }) => {
    const { name, type, end } = readQuestion(message)
    asked.add(name)
    const found = (await answer(name)).filter(
      (each) => type === (isIPv6(each) ? TYPES.AAAA : TYPES.A),
    )
    if (open) socket.send(writeAnswer(message.subarray(0, end), type, found), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const server = `127.0.0.1:${socket.address().port}`
  const { Resolver } = dns
  class LocalResolver extends Resolver {
    constructor(...options: ConstructorParameters<typeof Resolver>) {
      super(...options)
      this.setServers([server])
    }
  }
  Object.assign(dns, { Resolver: LocalResolver })
  syncBuiltinESMExports()
  return {
    asked,
    async [Symbol.asyncDispose]() {
      Object.assign(dns, { Resolver })
      syncBuiltinESMExports()
      open = false
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** The only question of a message (RFC 1035, 4.1); `end`: where it ends. */
function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message.readUInt8(at++); length > 0; length = message.readUInt8(at++)) {
    labels.push(message.toString('latin1', at, at + length))
    at += length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at), end: at + 4 }
}

/** The answer to a message that ends with its question; each record points to the question's name. */
function writeAnswer(question: Buffer, type: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question)
  // A response, recursion available; counts of questions, answers, authorities, additional records.
  head.writeUInt16BE(0x8180, 2)
  for (const [index, count] of [1, addresses.length, 0, 0].entries())
    head.writeUInt16BE(count, 4 + 2 * index)
  const records = addresses.map((address) => {
    const bytes = bytesOf(address)
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc000 + HEADER_BYTES)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(bytes.length, 10)
    return Buffer.concat([record, bytes])
  })
  return Buffer.concat([head, ...records])
}

function bytesOf(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [left = [], right = []] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  const groups = [...left, ...zeros, ...right].map((group) => group.padStart(4, '0'))
  return Buffer.from(groups.join(''), 'hex')
}
