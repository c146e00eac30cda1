import { connect } from 'node:net'

/** What a server answered to raw bytes, as far as HTTP/1.1 with a Content-Length goes. */
export type RawReply = { status: number; headers: Record<string, string>; body: string }

/** Sends bytes as no HTTP client would and returns the first whole answer, or undefined where the server closed without one. The client does not close before. */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  from = '127.0.0.1',
): Promise<RawReply | undefined> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(
      { port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true },
      () => void socket.write(bytes),
    )
    const settle = (reply: RawReply | undefined) => {
      resolve(reply)
      socket.destroy()
    }
    socket.on('data', (chunk) => {
      text += String(chunk)
      const reply = readReply(text)
      if (reply) settle(reply)
    })
    socket.on('end', () => settle(readReply(text)))
    socket.on('close', () => settle(readReply(text)))
    socket.on('error', reject)
  })
}

function readReply(text: string): RawReply | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [start = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const body = text.slice(end + 4)
  return body.length < Number(headers['content-length'] ?? 0)
    ? undefined
    : { status: Number(start.split(' ')[1]), headers, body }
}
