import * as v from 'valibot'
import { generatePrivateKey } from 'viem/accounts'
import { SCOPES } from '#contract/api-key-body.ts'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { BrowserEndpoint, Endpoint, Schema } from '#contract/endpoint.ts'
import { endpoints } from '#contract/endpoints.ts'
import { parseJson } from '#contract/json.ts'
import { apiKey } from '#service/db/schema/access.ts'
import { describeApi } from '#service/openapi/describe-api.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { checkResponse, type JsonSchema } from '../described-responses.ts'
import { Fixture } from '../fixture.ts'
import { startEvm, startSolana } from '../local-chains.ts'
import { executeAsOwner } from '../postgres.ts'
import { createTestKey } from '../service-app.ts'
import { Rng } from '../tamper/rng.ts'
import { evmWallet, solanaWallet, type TestBrowser } from '../test-browser.ts'
import { deployTokens, withFacilitator } from '../token-payers.ts'
import { VALID_REQUESTS } from '../valid-requests.ts'
import { bodyText, learn, parameterText, textFor, valueFor, type Pools } from './grammar.ts'
import { openProofPool, type ProofPool } from './proof-pool.ts'

/**
 * Requests that are generated from the description of the service and from the tables of the proxy, against a real service behind a real proxy, on real
 * nodes and a real database; ids that are returned stand in later requests. What it looks for: a 5xx that input alone made, an answer that differs from its
 * schema, a secret in an answer, and a changed `Object.prototype`.
 */

export type FuzzReport = {
  requests: number
  seconds: number
  /** How many answers had each status, by program. */
  statuses: Map<string, number>
  /** How many requests reached each endpoint with success. */
  succeeded: Map<string, number>
  problems: Map<string, { count: number; example: string }>
}

type Parameter = { in: string; name: string; schema: JsonSchema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } }
}
type Target = { method: string; path: string; operation: Operation }
type Sent = {
  at: string
  method: string
  path: string
  body: string | Uint8Array<ArrayBuffer> | undefined
}

const PARALLEL = 8
/** Of so many requests one goes to the proxy. */
const PROXY_SHARE = 3
const MINE_EVERY = 100
/** Chains and callers' own wallets decide these, not the input. */
const EXPECTED_5XX = new Set([
  'CHAIN_UNAVAILABLE',
  'FACILITATOR_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
])
const TRACES = [/\n\s+at [\w.<]/, /node_modules/, /postgres(ql)?:\/\//, /\.pgdata/]

export type FuzzOptions = {
  seed: number
  requests: number
  maxMs?: number
  onProgress?: (done: number, report: FuzzReport) => void
  /** Changes an answer before it is looked at: to see that a departure is noticed. */
  plant?: (answer: ReceivedAnswer, secret: string) => ReceivedAnswer
}
export type ReceivedAnswer = { status: number; text: string }

function emptyReport(): FuzzReport {
  return {
    requests: 0,
    seconds: 0,
    statuses: new Map(),
    succeeded: new Map(),
    problems: new Map(),
  }
}

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  await using fuzzer = await Fuzzer.open()
  return await fuzzer.run(options)
}

/** Service, proxy and nodes, for one run of requests after the other. */
export class Fuzzer {
  #seed = 0
  #plant: FuzzOptions['plant']
  readonly #stack: AsyncDisposableStack
  readonly #fixture: Fixture
  readonly #keys: string[]
  readonly #browsers: TestBrowser[]
  readonly #pools: Pools
  readonly #proofs: ProofPool
  readonly #mine: () => Promise<void>
  readonly #secrets: string[]
  readonly #prototype = Object.getOwnPropertyNames(Object.prototype).join()
  readonly #targets: Target[]
  #report = emptyReport()

  private constructor(parts: {
    stack: AsyncDisposableStack
    fixture: Fixture
    keys: string[]
    browsers: TestBrowser[]
    pools: Pools
    proofs: ProofPool
    mine: () => Promise<void>
    rpcUrls: string[]
  }) {
    this.#stack = parts.stack
    this.#fixture = parts.fixture
    this.#keys = parts.keys
    this.#browsers = parts.browsers
    this.#pools = parts.pools
    this.#proofs = parts.proofs
    this.#mine = parts.mine
    this.#secrets = [...parts.keys, parts.fixture.key, ...parts.rpcUrls]
    const api: JsonSchema = JSON.parse(JSON.stringify(describeApi()))
    this.#targets = Object.entries(Object(api['paths']) as Record<string, object>).flatMap(
      ([path, operations]) =>
        Object.entries(operations).map(([method, operation]: [string, Operation]) => ({
          method: method.toUpperCase(),
          path,
          operation,
        })),
    )
  }

  static async open(): Promise<Fuzzer> {
    await using stack = new AsyncDisposableStack()
    const evm = stack.use(await startEvm({ slotsInEpoch: 1 }))
    const solana = stack.use(await startSolana({ slotTimeMs: 400 }))
    await evm.mine()
    const tokens = await deployTokens(evm)
    const operator = evmWallet()
    const fixture = stack.use(
      await Fixture.open({
        networks: [tokens.network, solana.network],
        bff: {
          operatorWallets: [operator.address],
          sellerWallets: [operator.address],
          trustedProxyHops: 1,
        },
      }),
    )
    const { context } = fixture.service
    const all = await createTestKey(context.db)
    const made = [all]
    for (const scope of SCOPES) made.push(await createTestKey(context.db, { scopes: [scope] }))
    const keys = made.map(({ key }) => key)
    const rows = await context.db.select({ id: apiKey.id }).from(apiKey)
    const own = rows.map(({ id }) => id)
    await executeAsOwner(
      { target: context.config.database, db: context.db },
      'update service.api_key set requests_per_minute = 10000000',
    )
    context.config = (
      await withFacilitator(context, all.accountId, { evm: generatePrivateKey() })
    ).config
    const managed: string[] = []
    for (const family of ['evm', 'solana'] as const) {
      const { address } = await createWallet(
        { ...context, now: context.now() },
        { accountId: all.accountId, family, name: 'till' },
      )
      managed.push(address)
    }
    const [till = '', vault = ''] = managed
    await evm.client.setBalance({ address: till as `0x${string}`, value: 10n ** 21n })
    await solana.setAccount(vault, { lamports: 10n ** 12n })
    const payer = await evm.wallet(10n ** 21n)
    const proofs = await openProofPool(evm, tokens, till)
    const browsers = [fixture.browser(), fixture.browser(), fixture.browser()]
    await browsers[1]?.signIn(evmWallet())
    await browsers[2]?.signIn(operator)
    const moved = stack.move()
    return new Fuzzer({
      stack: moved,
      fixture,
      keys,
      browsers,
      proofs,
      mine: () => evm.mine(),
      rpcUrls: [...evm.network.rpcUrls, ...solana.network.rpcUrls],
      pools: {
        addresses: [
          till,
          vault,
          payer.address,
          operator.address,
          solanaWallet().address,
          ...proofs.addresses,
        ],
        networks: [evm.network.network, solana.network.network, 'eip155:1', 'base-sepolia', 'evm'],
        assets: ['native', 'ETH', 'SOL', 'USDC', 'WETH', tokens.usdc.address, tokens.weth.address],
        ids: new Map(),
        spared: new Set(own),
        hashes: [`0x${'1'.repeat(64)}`, '1'.repeat(88)],
        proofs: ['e30='],
        urls: [
          'https://shop.example/a',
          `${fixture.service.url}/facilitator`,
          'http://127.0.0.1:9/',
        ],
      },
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  async run(options: FuzzOptions): Promise<FuzzReport> {
    const { seed, plant, requests, maxMs = Infinity, onProgress } = options
    this.#seed = seed
    this.#plant = plant
    this.#report = emptyReport()
    const startedAt = performance.now()
    let next = 0
    const work = async () => {
      while (next < requests && performance.now() - startedAt < maxMs) {
        const index = next++
        if (index % MINE_EVERY === 0) await this.#mine()
        const rng = new Rng(this.#seed + Math.imul(index, 0x9e3779b1))
        await (index % PROXY_SHARE === 0 ? this.#fuzzProxy(rng, index) : this.#fuzzService(rng))
        this.#report.requests++
        if (Object.getOwnPropertyNames(Object.prototype).join() !== this.#prototype)
          this.#note('Object.prototype was changed', String(index))
        onProgress?.(this.#report.requests, this.#report)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, work))
    this.#report.seconds = (performance.now() - startedAt) / 1_000
    return this.#report
  }

  async #fuzzService(rng: Rng): Promise<void> {
    const target = this.#targets[rng.below(this.#targets.length)]
    if (!target) return
    const { method, operation } = target
    const { path, headers } = this.#fill(rng, target)
    const key = rng.below(10)
    if (key < 7) headers['authorization'] = `Bearer ${this.#keys[0]}`
    else if (key < 9)
      headers['authorization'] = `Bearer ${this.#keys[rng.below(this.#keys.length)]}`
    const schema = operation.requestBody?.content['application/json'].schema
    const value = schema && (await this.#value(rng, schema, target.path))
    const body = schema && bodyText(rng, value)
    if (body !== undefined) headers['content-type'] = 'application/json'
    const at = `service ${method} ${target.path}`
    const response = await fetchAgain(this.#fixture.service.url + path, { method, headers, body })
    if (!response)
      return this.#note(`${at}: no answer`, describeSent({ at, method, path, body }, ''))
    const { status, text } = await this.#read(response)
    this.#inspect({ at, method, path, body }, status, text)
    if (/^\/(health|docs|openapi)/.test(target.path)) return
    const parsed = this.#parse(at, text)
    const pathname = new URL(this.#fixture.service.url + path).pathname
    const wrong = checkResponse({
      method,
      path: pathname,
      status,
      headers: response.headers,
      body: parsed,
    })
    for (const each of wrong)
      this.#note(
        `${at}: ${each.replace(pathname, target.path)}`,
        describeSent({ at, method, path, body }, text),
      )
  }

  async #fuzzProxy(rng: Rng, index: number): Promise<void> {
    const rows = PROXY_ROWS
    const [name, row] = rows[rng.below(rows.length)] ?? []
    if (!name || !row) return
    const browser = this.#browsers[rng.below(this.#browsers.length)]
    if (!browser || ENDS_SESSIONS.test(name)) return
    const filled = row.path.replaceAll(/:(\w+)/g, (_, parameter: string) =>
      parameterText(rng, textFor(rng, parameter, this.#pools)),
    )
    const query = rng.below(3) === 0 ? `?${this.#query(rng)}` : ''
    const path = `/api${filled}${query}`
    const valid = row.body && parsePlain(VALID_REQUESTS[`${name} body`] ?? '{}')
    const value = valid === undefined ? undefined : this.#refresh(rng, valid)
    const body = value === undefined ? undefined : bodyText(rng, value)
    const at = `proxy ${row.method} ${row.path}`
    const headers = {
      ...browser.headers(),
      'X-Forwarded-For': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
      ...(row.method !== 'GET' && {
        'Content-Type': 'application/json',
        'X-Requested-By': 'paydesk',
      }),
    }
    const response = await fetchAgain(this.#fixture.bff.url + path, {
      method: row.method,
      headers,
      body: body ?? (row.method === 'POST' ? '{}' : undefined),
    })
    if (!response)
      return this.#note(
        `${at}: no answer`,
        describeSent({ at, method: row.method, path, body }, ''),
      )
    const { status, text } = await this.#read(response)
    const sent = { at, method: row.method, path, body }
    this.#inspect(sent, status, text)
    const parsed = this.#parse(at, text)
    const schema: Schema = status < 300 ? row.response : Problem
    const answer = v.safeParse(schema, parsed)
    if (!answer.success && text !== '')
      this.#note(
        `${at} ${status}: ${answer.issues
          .map((issue) => `${v.getDotPath(issue) ?? ''} ${issue.message}`)
          .join('; ')
          .slice(0, 200)}`,
        describeSent(sent, text),
      )
  }

  async #read(response: Response): Promise<ReceivedAnswer> {
    const received = { status: response.status, text: await response.text() }
    return this.#plant?.(received, this.#secrets[0] ?? '') ?? received
  }

  /** A valid body of the tables with values of the pools. */
  #refresh(rng: Rng, valid: unknown): unknown {
    if (typeof valid !== 'object' || valid === null || Array.isArray(valid)) return valid
    return Object.fromEntries(
      Object.entries(valid).map(([name, each]: [string, unknown]) => [
        name,
        typeof each === 'string' && rng.below(3) > 0
          ? textFor(rng, name, this.#pools) || each
          : each,
      ]),
    )
  }

  #query(rng: Rng): string {
    const names = ['limit', 'offset', 'cursor', 'status', 'network', 'asset', 'since', 'until', 'q', 'wallets', 'days', 'type', '__proto__'] // prettier-ignore
    const name = names[rng.below(names.length)] ?? 'q'
    return `${name}=${parameterText(rng, textFor(rng, name, this.#pools))}`
  }

  #fill(rng: Rng, { path, operation }: Target): { path: string; headers: Record<string, string> } {
    const headers: Record<string, string> = {}
    const query: string[] = []
    let filled = path
    for (const { in: place, name, schema } of operation.parameters ?? []) {
      const text = String(valueFor(rng, schema ?? {}, name, this.#pools))
      if (place === 'path')
        filled = filled.replace(`{${name}}`, () => parameterText(rng, text) || 'x')
      else if (rng.below(3) > 0) continue
      else if (place === 'query') query.push(`${name}=${parameterText(rng, text)}`)
      else headers[name] = name === 'Prefer' ? 'wait=0' : `key-${rng.below(500)}`
    }
    return { path: query.length > 0 ? `${filled}?${query.join('&')}` : filled, headers }
  }

  async #value(rng: Rng, schema: JsonSchema, path: string): Promise<unknown> {
    const value = valueFor(rng, schema, '', this.#pools)
    if (!/facilitator|receive/.test(path) || typeof value !== 'object' || value === null)
      return value
    const { header, requirements } = await this.#proofs.header(rng)
    if (!path.startsWith('/facilitator')) return { ...value, paymentProof: header }
    const paymentPayload = parsePlain(Buffer.from(header, 'base64').toString())
    return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
  }

  #parse(at: string, text: string): unknown {
    try {
      return text === '' ? undefined : JSON.parse(text)
    } catch {
      this.#note(`${at}: the answer is not JSON`, text.slice(0, 200))
      return undefined
    }
  }

  #inspect(sent: Sent, status: number, text: string): void {
    const program = sent.at.split(' ')[0] ?? ''
    count(this.#report.statuses, `${program} ${status}`)
    if (status < 300) count(this.#report.succeeded, sent.at)
    learn(this.#pools, text)
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? ''
    if (status >= 500 && !isExpected(sent.at, status, code))
      this.#note(`${sent.at}: ${status} ${code}`, describeSent(sent, text))
    for (const secret of this.#secrets)
      if (text.includes(secret) && !isPublic(sent.at, secret))
        this.#note(`${sent.at}: the answer contains a secret`, describeSent(sent, text))
    for (const trace of TRACES)
      if (trace.test(text) && !echoes(sent, trace))
        this.#note(`${sent.at}: the answer shows ${trace}`, describeSent(sent, text))
  }

  #note(problem: string, example: string): void {
    const known = this.#report.problems.get(problem)
    this.#report.problems.set(problem, {
      count: (known?.count ?? 0) + 1,
      example: known?.example ?? example,
    })
  }
}

/** Nobody would be signed in any more. */
const ENDS_SESSIONS = /^session\w*(Delete|End|Revoke)/

const Problem = v.object({
  success: v.literal(false),
  error: v.object({ code: v.string(), message: v.string(), requestId: v.string() }),
  timestamp: v.number(),
})

const PROXY_ROWS: [string, Endpoint | BrowserEndpoint][] = [
  ...Object.entries<Endpoint>(endpoints).filter(([, { audience }]) => audience === 'browser'),
  ...Object.entries<BrowserEndpoint>(browserEndpoints),
]

/** A server closes connections that rest, and a request may meet a closing one: it is sent once more. Undefined when that is cut off too. */
async function fetchAgain(url: string, init: RequestInit): Promise<Response | undefined> {
  const request = () => fetch(url, init).catch(() => undefined)
  return (await request()) ?? (await request())
}

/** Chains decide these, not the input; the readiness of a program has no code. */
function isExpected(at: string, status: number, code: string): boolean {
  return (
    status !== 500 && (EXPECTED_5XX.has(code) || (at.endsWith('/health/ready') && status === 503))
  )
}

/** Browsers read the chains themselves, through addresses that the operator published. */
function isPublic(at: string, secret: string): boolean {
  return at.endsWith('/config') && secret.startsWith('http')
}

/** What the caller sent may come back. */
function echoes({ path, body }: Sent, trace: RegExp): boolean {
  const text = body === undefined || typeof body === 'string' ? body : Buffer.from(body).toString()
  return (
    trace.test(decodeURIComponent(path.replaceAll(/%(?![0-9a-f]{2})/gi, ''))) ||
    trace.test(text ?? '')
  )
}

function describeSent({ method, path, body }: Sent, text: string): string {
  const sent = body === undefined || typeof body === 'string' ? body : Buffer.from(body).toString()
  return `${method} ${path.slice(0, 200)} ${(sent ?? '').slice(0, 1_500)} -> ${text.slice(0, 400)}`
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function parsePlain(text: string): unknown {
  return JSON.parse(
    JSON.stringify(parseJson(text), (_, each: unknown) =>
      typeof each === 'bigint' ? String(each) : each,
    ),
  )
}
