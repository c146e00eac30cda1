import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { SOLANA_DEVNET } from '#contract/network.ts'
import { EventReader } from './event-reader.ts'

export type TestWallet = {
  address: string
  network: string
  sign: (text: string) => Promise<string>
}

export function evmWallet(): TestWallet {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    address: account.address,
    network: 'eip155:31337',
    sign: (message) => account.signMessage({ message }),
  }
}

export function solanaWallet(): TestWallet {
  const { secretKey, publicKey } = ed25519.keygen()
  return {
    address: bs58.encode(publicKey),
    network: SOLANA_DEVNET,
    sign: (text) =>
      Promise.resolve(bs58.encode(ed25519.sign(new TextEncoder().encode(text), secretKey))),
  }
}

export type SignInChallenge = { id: string; message: string; expiresAt: number }
/** The fields of every answer that tests look into. */
type AnswerJson = {
  id: string
  message: string
  expiresAt: number
  paymentId: string
  /** Of a link. */
  state: string
  session: { wallets: string[]; role: string | null; expiresAt: number }
  sessions: {
    wallets: string[]
    current: boolean
    createdAt: number
    lastUsedAt: number
    expiresAt: number
  }[]
  payments: { paymentId: string }[]
  error: {
    code: string
    message: string
    details?: Record<string, string>
    retryAfter?: number
    requestId: string
  }
}
export type BrowserResponse = { status: number; headers: Headers; text: string; json: AnswerJson }

/** What a page of the web app does through fetch, with the cookies a browser would keep. */
export class TestBrowser {
  readonly cookies = new Map<string, string>()
  /** Set-Cookie lines as they came, newest last. */
  readonly setCookies: string[] = []
  readonly #base: () => string
  readonly #origin: string

  constructor(base: () => string, origin: string) {
    this.#base = base
    this.#origin = origin
  }

  get(path: string, headers: Record<string, string> = {}): Promise<BrowserResponse> {
    return this.send('GET', path, { headers })
  }

  post(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<BrowserResponse> {
    return this.send('POST', path, {
      headers: { 'Content-Type': 'application/json', 'X-Requested-By': 'paydesk', ...headers },
      body: JSON.stringify(body),
    })
  }

  delete(path: string): Promise<BrowserResponse> {
    return this.send('DELETE', path, { headers: { 'X-Requested-By': 'paydesk' } })
  }

  async send(
    method: string,
    path: string,
    request: { headers?: Record<string, string>; body?: string },
  ): Promise<BrowserResponse> {
    const response = await fetch(this.#base() + path, {
      method,
      headers: this.headers(request.headers),
      body: request.body,
    })
    this.#keepCookies(response)
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text === '' ? undefined : JSON.parse(text),
    }
  }

  headers(more: Record<string, string> = {}): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return {
      Origin: this.#origin,
      'Sec-Fetch-Site': 'same-site',
      'Sec-Fetch-Mode': 'cors',
      'Sec-Fetch-Dest': 'empty',
      ...(cookie && { Cookie: cookie }),
      ...more,
    }
  }

  async challenge(wallet: TestWallet): Promise<SignInChallenge> {
    const answer = await this.post('/api/session/challenge', {
      walletAddress: wallet.address,
      network: wallet.network,
    })
    if (answer.status !== 200) throw new Error(`No challenge: ${answer.text}`)
    return answer.json
  }

  async signIn(wallet: TestWallet): Promise<BrowserResponse> {
    const { id, message } = await this.challenge(wallet)
    return this.post('/api/session', { id, signature: await wallet.sign(message) })
  }

  /** The header of a request that a wallet has approved. `by`: who signs, where it is another. */
  async approve(
    wallet: TestWallet,
    operation: object,
    by: TestWallet = wallet,
  ): Promise<Record<string, string>> {
    const answer = await this.post('/api/approvals', { signer: wallet.address, operation })
    if (answer.status !== 200) throw new Error(`No approval: ${answer.text}`)
    const { id, message } = answer.json
    return { 'X-Approval': `${id} ${await by.sign(message)}` }
  }

  /** Opens the event stream. */
  events(lastEventId?: string): EventReader {
    return new EventReader(
      `${this.#base()}/api/events`,
      this.headers(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
    )
  }

  #keepCookies(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      this.setCookies.push(line)
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (/Max-Age=0(;|$)/.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
  }
}
