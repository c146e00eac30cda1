import type { Client } from 'pg'

const RECONNECT_FIRST_MS = 100
const RECONNECT_MOST_MS = 5_000

type Heard = (payload: string) => void

export type Listener = {
  listen(channel: string, on: Heard): Promise<() => Promise<void>>
  close(): Promise<void>
}

/**
 * LISTEN on a separate connection, opened with the first listener. When the connection breaks it is
 * opened again, and every listener is called with an empty payload, because notifications sent
 * meanwhile are lost.
 */
export function openListener(
  createClient: () => Client,
  onWarning: (error: Error) => void,
): Listener {
  const channels = new Map<string, Set<Heard>>()
  let connected: Promise<Client> | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false

  async function connect(): Promise<Client> {
    const client = createClient()
    client.on('error', onWarning)
    client.on('notification', ({ channel, payload }) => {
      for (const on of channels.get(channel) ?? []) on(payload ?? '')
    })
    await client.connect()
    client.once('end', () => {
      if (!closed) reconnect(RECONNECT_FIRST_MS)
    })
    for (const channel of channels.keys()) await client.query(`listen ${quote(channel)}`)
    return client
  }

  function reconnect(delayMs: number): void {
    connected = undefined
    clearTimeout(retry)
    retry = setTimeout(() => {
      retry = undefined
      connected = connect()
      connected.then(
        () => {
          for (const listeners of channels.values()) for (const on of listeners) on('')
        },
        (error: Error) => {
          onWarning(error)
          if (!closed) reconnect(Math.min(delayMs * 2, RECONNECT_MOST_MS))
        },
      )
    }, delayMs)
  }

  return {
    async listen(channel, on) {
      const listeners = channels.get(channel) ?? new Set()
      listeners.add(on)
      channels.set(channel, listeners)
      // A reconnect that is waiting will include the new channel.
      if (!retry) connected ??= connect()
      try {
        const client = await connected
        await client?.query(`listen ${quote(channel)}`)
      } catch (error) {
        listeners.delete(on)
        connected = undefined
        throw error
      }
      return async () => {
        listeners.delete(on)
        if (listeners.size > 0 || channels.get(channel) !== listeners) return
        channels.delete(channel)
        const client = await connected?.catch(() => undefined)
        // A closed connection listens to nothing.
        await client?.query(`unlisten ${quote(channel)}`).catch(onWarning)
      }
    },
    async close() {
      closed = true
      clearTimeout(retry)
      channels.clear()
      const client = await connected?.catch(() => undefined)
      await client?.end()
    },
  }
}

function quote(channel: string): string {
  if (!/^[a-z_]{1,63}$/.test(channel))
    throw new TypeError(`Expected a plain lower-case channel name, received ${channel}.`)
  return `"${channel}"`
}
