import type { WebSocket } from 'ws'
import type { EventKind, SocketMessage } from '#contract/event.ts'
import { stringifyJson } from '#contract/json.ts'
import type { EventMessage } from '../../events/to-message.ts'

/** Why a connection of ours ends; 4xxx is ours to define (RFC 6455, 7.4.2). */
export const CLOSE = {
  goingAway: 1001,
  failed: 1011,
  tooSlow: 1013,
  unauthorized: 4401,
  limited: 4429,
} as const

/** After this a close frame that the client never read is no longer waited for. */
const CLOSE_WITHIN_MS = 1_000

type Outgoing = Exclude<SocketMessage, { type: EventKind }> | EventMessage

export type Sender = {
  /** Resolves when the message has left this process, so a caller that waits never has more than one in memory. */
  send(message: Outgoing): Promise<void>
  close(code: number, reason: string): void
}

export function createSender(ws: WebSocket, sendWithinMs: number): Sender {
  function close(code: number, reason: string): void {
    ws.close(code, reason)
    setTimeout(() => ws.terminate(), CLOSE_WITHIN_MS).unref()
  }
  function send(message: Outgoing): Promise<void> {
    return new Promise((resolve, reject) => {
      if (ws.readyState !== ws.OPEN) return reject(new Error('The connection is closed.'))
      const slow = setTimeout(() => {
        close(CLOSE.tooSlow, 'slow consumer; resume with since')
        reject(new Error('The client does not read.'))
      }, sendWithinMs)
      ws.send(stringifyJson(message), (error) => {
        clearTimeout(slow)
        if (error) reject(error)
        else resolve()
      })
    })
  }
  return { send, close }
}
