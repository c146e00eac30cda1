import { createTransport, type Transporter } from 'nodemailer'
import type { MailConfig } from '../config/mail-config.ts'

/** Together less than the first wait before another attempt: nobody sends a message twice at once. */
const CONNECT_MS = 10_000
const SOCKET_MS = 15_000

export type OutgoingMail = {
  /** Without angle brackets and without a domain. */
  id: string
  to: string
  subject: string
  text: string
  unsubscribeUrl?: string
}

/** `refused`: the server will never take it. `later`: it was not reached, or asks for another attempt. */
export type MailResult = { ok: true } | { ok: false; kind: 'refused' | 'later'; failure: string }

/** Sends to the operator's mail server alone, each message over a fresh connection. */
export class MailTransport {
  readonly #transporter: Transporter
  readonly #from: MailConfig['from']

  constructor({ server, from }: MailConfig) {
    this.#from = from
    this.#transporter = createTransport({
      ...server,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SOCKET_MS,
      // A message is text: it names no file and no address to read.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  async send({ id, to, subject, text, unsubscribeUrl }: OutgoingMail): Promise<MailResult> {
    const domain = this.#from.address.slice(this.#from.address.lastIndexOf('@') + 1)
    try {
      await this.#transporter.sendMail({
        messageId: `<${id}@${domain}>`,
        from: this.#from,
        to: { name: '', address: to },
        // Who gets it is never read from a header.
        envelope: { from: this.#from.address, to: [to] },
        subject,
        text,
        headers: {
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribeUrl !== undefined && {
            'List-Unsubscribe': `<${unsubscribeUrl}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
        },
      })
      return { ok: true }
    } catch (error) {
      return { ok: false, ...classify(error) }
    }
  }

  close(): void {
    this.#transporter.close()
  }
}

/** A password, certificate or sender that is not accepted is the operator's to mend: the message waits. */
function classify(error: unknown): { kind: 'refused' | 'later'; failure: string } {
  const { code, command, responseCode } = toFields(error)
  const ofMessage = code === 'EMESSAGE' || (code === 'EENVELOPE' && command !== 'MAIL FROM')
  const refused = ofMessage && typeof responseCode === 'number' && responseCode >= 500
  return {
    kind: refused ? 'refused' : 'later',
    // Codes alone: a server's sentence may repeat the address.
    failure: [code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown',
  }
}

function toFields(error: unknown): Partial<Record<'code' | 'command' | 'responseCode', unknown>> {
  return typeof error === 'object' && error !== null ? error : {}
}
