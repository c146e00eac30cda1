import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import bs58 from 'bs58'
import * as v from 'valibot'
import { keccak256, numberToHex, type Hex } from 'viem'
import { pause } from './command.ts'
import type { SeededRng } from './rng.ts'

/** What an RPC endpoint does wrong, by what its caller sees. */
export const FAULTS = [
  'timeout',
  'reset',
  'taken, then reset',
  'rate limited',
  'cut answer',
  'stale answer',
  'stale nonce',
  'not found',
  'broadcast doubled',
  'broadcast swallowed',
  'taken, then refused',
] as const
export type RpcFault = (typeof FAULTS)[number]

const BROADCASTS = ['eth_sendRawTransaction', 'sendTransaction']
const NONCE = 'eth_getTransactionCount'
/** What may be answered as it was some seconds ago: heads, balances, counts. */
const AGING =
  /^(eth_blockNumber|eth_getBlockByNumber|eth_getBalance|eth_feeHistory|getSlot|getBlockHeight|getEpochInfo|getLatestBlockhash|getBalance|getAccountInfo)$/
/** What an endpoint may know nothing of, and how it says so. */
const UNKNOWN: Record<string, (known: unknown) => unknown> = {
  eth_getTransactionByHash: () => null,
  eth_getTransactionReceipt: () => null,
  getTransaction: () => null,
  getSignaturesForAddress: () => [],
  getSignatureStatuses: (known) => {
    const statuses = v.parse(Statuses, known)
    return { ...statuses, value: statuses.value.map(() => null) }
  },
}
const Statuses = v.looseObject({ value: v.array(v.unknown()) })
const Reply = v.object({ result: v.optional(v.unknown()) })
const REFUSALS: Record<string, object> = {
  eth_sendRawTransaction: { code: -32_000, message: 'nonce too low' },
  sendTransaction: { code: -32_002, message: 'This transaction has already been processed' },
}

/** Longer than the service waits for an endpoint. */
const TIMEOUT_MS = 10_000
/** How many earlier answers to one question a stale answer is chosen from. */
const REMEMBERED = 12
/** Lies change while payments are under way: this often, some faults are left out. */
const MIX_MS = 2_000

const Question = v.object({
  id: v.optional(v.unknown()),
  method: v.string(),
  params: v.optional(v.array(v.unknown()), []),
})
type Question = v.InferOutput<typeof Question>

/**
 * A lie that an endpoint keeps to. `behind`: heads, nonces and balances stand still, and no transaction is known. `forgetful`: it knows no
 * transaction. `deaf`: it takes broadcasts and passes none on. `ahead`: its heads are too high. Each says the rest as it is.
 */
export const MANNERS = ['behind', 'forgetful', 'deaf', 'ahead'] as const
export type Manner = (typeof MANNERS)[number]
const HEADS = ['eth_blockNumber', 'getSlot', 'getBlockHeight']
const Numbered = v.looseObject({ number: v.string() })
/** More than any blockhash lives. */
const AHEAD_BY = 300

export type FaultProxy = AsyncDisposable & {
  url: string
  /** The part of calls that is not answered honestly; 0 ends all faults. */
  rate: number
  /** While true, the endpoint knows no transaction: not its receipt, not its status, no history. Everything else that it says is right. */
  forgets: boolean
  /** From now on it lies in this manner, too; `undefined` ends that. */
  lieAs: (manner: Manner | undefined) => void
  /** How often it lied in each manner. */
  lies: Record<Manner, number>
  /** Calls that could have been answered wrongly; those of a manner are in `lies`. */
  calls: number
  /** How often each fault really happened. */
  counts: Record<RpcFault, number>
}

/** A way to an RPC endpoint that fails and lies, in the order that the random sequence gives. Honest until `rate` is set. */
export async function startFaultProxy(target: string, rng: SeededRng): Promise<FaultProxy> {
  const counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<RpcFault, number>
  const earlier = new Map<string, string[]>()
  const lies = { behind: 0, forgetful: 0, deaf: 0, ahead: 0 }
  let manner: Manner | undefined
  let standing = new Map<string, string>()
  let mix: readonly RpcFault[] = FAULTS
  const mixing = setInterval(() => (mix = FAULTS.filter(() => rng.next() < 0.7)), MIX_MS)

  async function forward(body: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return { status: answer.status, text: await answer.text() }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const asked = (Array.isArray(parsed) ? parsed : [parsed]).map(readAsked)
    if (proxy.rate > 0 || proxy.forgets) proxy.calls++
    const fitting = mix.flatMap((each) =>
      asked.some(({ question, past }) => fits(each, question, past))
        ? Array<RpcFault>(weightOf(each)).fill(each)
        : [],
    )
    const random = rng.next() < proxy.rate && fitting.length > 0 ? rng.pick(fitting) : undefined
    const forgets = asked.some(({ question, past }) => fits('not found', question, past))
    const fault = proxy.forgets && forgets ? 'not found' : random
    if (fault) counts[fault]++
    const send = (text: string, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(text)

    if (fault === 'timeout') {
      await Promise.race([pause(TIMEOUT_MS), new Promise((end) => response.once('close', end))])
      return void request.socket.destroy()
    }
    if (fault === 'reset') return void request.socket.destroy()
    if (fault === 'rate limited') return send('{"error":"Too many requests."}', 429)

    // Surfpool takes no batches: each request of one is asked by itself.
    const answers = await Promise.all(asked.map((each) => answerOne(each, fault)))
    if (fault === 'taken, then reset') return void request.socket.destroy()
    const failed = answers.find(({ status }) => status !== 200)
    const texts = answers.map(({ text }) => text).join()
    const text = failed?.text ?? (Array.isArray(parsed) ? `[${texts}]` : texts)
    const status = failed?.status ?? 200
    if (fault === 'cut answer') {
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text) + 1,
      })
      response.write(text.slice(0, text.length / 2))
      return void setImmediate(() => request.socket.destroy())
    }
    send(text, status)
  }

  type Asked = {
    body: string
    question: Question | undefined
    name: string | undefined
    past: readonly string[]
  }

  function readAsked(each: unknown): Asked {
    const parsed = v.safeParse(Question, each)
    const question = parsed.success ? parsed.output : undefined
    const name = question && `${question.method} ${JSON.stringify(question.params)}`
    const past = (name !== undefined && earlier.get(name)) || []
    return { body: JSON.stringify(each), question, name, past }
  }

  /** Honestly, where the fault does not fit this request. */
  async function answerOne(
    { body, question, name, past }: Asked,
    fault: RpcFault | undefined,
  ): Promise<{ status: number; text: string }> {
    const lie = question && fault && fits(fault, question, past) ? fault : undefined
    const reply = (content: object) => ({
      status: 200,
      text: JSON.stringify({ jsonrpc: '2.0', id: question?.id ?? 1, ...content }),
    })
    if (manner && question && name !== undefined && !fault) {
      const said = await lieOf(manner, question, { name, body })
      if (said) {
        lies[manner]++
        return reply(said)
      }
    }
    if (lie === 'broadcast swallowed' && question) return reply({ result: nameOf(question) })
    if (lie === 'stale answer' || lie === 'stale nonce')
      return reply({ result: JSON.parse(rng.pick(past)) })
    if (lie === 'broadcast doubled') await forward(body)
    const { status, text } = await forward(body)
    if (lie === 'not found' && question) {
      const { result } = v.parse(Reply, JSON.parse(text))
      return reply({ result: UNKNOWN[question.method]?.(result) })
    }
    if (lie === 'taken, then refused' && question)
      return reply({ error: REFUSALS[question.method] })
    if (name !== undefined && question && ages(question.method)) remember(name, text)
    return { status, text }
  }

  /** What is answered in this manner; nothing where the truth is. */
  async function lieOf(
    as: Manner,
    question: Question,
    { name, body }: { name: string; body: string },
  ): Promise<{ result: unknown } | undefined> {
    const { method } = question
    const ask = async () => v.parse(Reply, JSON.parse((await forward(body)).text)).result
    if (as === 'deaf') return BROADCASTS.includes(method) ? { result: nameOf(question) } : undefined
    if (as === 'ahead') {
      const isNewest = method === 'eth_getBlockByNumber' && question.params[0] === 'latest'
      if (!HEADS.includes(method) && !isNewest) return undefined
      const answer = await ask()
      const block = v.safeParse(Numbered, answer)
      const head = Number(block.success ? block.output.number : answer) + AHEAD_BY
      if (block.success) return { result: { ...block.output, number: numberToHex(head) } }
      return { result: method.startsWith('eth_') ? numberToHex(head) : head }
    }
    const unknown = UNKNOWN[method]
    if (unknown) return { result: unknown(await ask()) }
    if (as === 'forgetful' || !ages(method)) return undefined
    const known = standing.get(name)
    if (known !== undefined) return { result: JSON.parse(known) }
    const result = await ask()
    if (result === undefined || result === null) return undefined
    standing.set(name, JSON.stringify(result))
    return { result }
  }

  function remember(name: string, text: string): void {
    const { result } = v.parse(Reply, JSON.parse(text))
    if (result === undefined || result === null) return
    earlier.set(name, [...(earlier.get(name) ?? []), JSON.stringify(result)].slice(-REMEMBERED))
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rate: 0,
    forgets: false,
    lieAs(next) {
      manner = next
      standing = new Map(
        [...earlier].flatMap(([name, past]) => past.slice(-1).map((last) => [name, last] as const)),
      )
    },
    lies,
    calls: 0,
    counts,
    async [Symbol.asyncDispose]() {
      clearInterval(mixing)
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
  return proxy
}

/** Some faults belong to some calls only. */
function fits(fault: RpcFault, question: Question | undefined, past: readonly string[]): boolean {
  const method = question?.method ?? ''
  const broadcasts = BROADCASTS.includes(method)
  if (fault === 'stale nonce') return method === NONCE && past.length > 0
  if (fault === 'stale answer') return AGING.test(method) && past.length > 0
  if (fault === 'not found') return method in UNKNOWN
  if (fault.startsWith('broadcast') || fault === 'taken, then refused') return broadcasts
  return true
}

/** Lies are harder to survive than silence, and fit fewer calls; and while all wait for a timeout, nothing is tested. */
function weightOf(fault: RpcFault): number {
  if (fault === 'timeout') return 1
  return FAULTS.indexOf(fault) < FAULTS.indexOf('stale answer') ? 2 : 8
}

function ages(method: string): boolean {
  return method === NONCE || AGING.test(method)
}

/** The name that an honest endpoint answers for a transaction that it takes. */
function nameOf({ method, params: [raw] }: Question): string {
  const text = String(raw)
  if (method === 'eth_sendRawTransaction') return keccak256(text as Hex)
  // One byte for the number of signatures, then the payer's, which names the transaction.
  return bs58.encode(Buffer.from(text, 'base64').subarray(1, 65))
}

/** What happened on several proxies together. */
export function countFaults(proxies: readonly FaultProxy[]): {
  calls: number
  faults: number
  list: string
} {
  const sum = (fault: RpcFault) => proxies.reduce((total, { counts }) => total + counts[fault], 0)
  return {
    calls: proxies.reduce((total, { calls }) => total + calls, 0),
    faults: FAULTS.reduce((total, fault) => total + sum(fault), 0),
    list: FAULTS.map((fault) => `${fault} ${sum(fault)}`).join(', '),
  }
}
