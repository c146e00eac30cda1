import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { resolver } from '#egress/exchange.ts'

const A = 1

/** A name server on loopback to which every name has these addresses, or that is silent. What programs call for third parties asks it alone meanwhile. */
export async function startNameServer(addresses: readonly string[] | 'silent') {
  const socket = createSocket('udp4')
  socket.on('message', (asked, { port, address }) => {
    if (addresses === 'silent') return
    // The header, the name, its type and class.
    const end = asked.indexOf(0, 12) + 5
    const found = asked.readUInt16BE(end - 4) === A ? addresses : []
    const header = Buffer.alloc(12)
    asked.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x81_80, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(found.length, 6)
    const answers = found.map((each) =>
      // The name of the question, A, IN, for a second, four bytes.
      Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 1, 0, 4, ...each.split('.').map(Number)]),
    )
    socket.send(Buffer.concat([header, asked.subarray(12, end), ...answers]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const former = resolver.getServers()
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    [Symbol.asyncDispose]: async () => {
      resolver.cancel()
      resolver.setServers(former)
      socket.close()
      await once(socket, 'close')
    },
  }
}
