import { ORIGIN } from '../fixture.ts'
import { evmWallet, TestBrowser } from '../test-browser.ts'
import type { SoakSample } from './measured.ts'
import { openPrograms, PROGRAMS, type ProgramName } from './programs.ts'

/**
 * A steady mix of requests against service and proxy: `--minutes N` (60 otherwise), `--every N` requests a measurement (5,000 otherwise), `--rate N` requests
 * a second at most. Prints of each program the heap after garbage collection, the resident memory, handles and file descriptors, and how they grow. Ends with
 * 1 when a heap grows faster than its bar, or handles or descriptors grow at all. Service and proxy are separate processes, so nothing of the tests is
 * measured. `--snapshots FOLDER` writes both heaps after 5,000 and after 15,000 requests, to be compared. Not part of `npm test`.
 */

function readOption(name: string, otherwise: number): number {
  const at = process.argv.lastIndexOf(`--${name}`)
  const value = at === -1 ? otherwise : Number(process.argv[at + 1])
  if (!(value > 0)) throw new Error(`Expected a number after --${name}, for example ${otherwise}.`)
  return value
}

const minutes = readOption('minutes', 60)
const every = readOption('every', 5_000)
const rate = readOption('rate', 1_000)
const MIB = 2 ** 20
/** Growth of the heap per 10,000 requests, by the line through the second half of the measurements: until then, code is compiled and dropped. */
const MOST_HEAP_MIB = 0.5
const MOST_HANDLES = 10
const PARALLEL = 4
const LEAST_MEASUREMENTS = 6
const PAYMENTS_AT_ONCE = 100

const SNAPSHOTS_AT = [5_000, 15_000]
/** As many as the proxy stores. */
const STORED_EVENTS = 2_000

const folderAt = process.argv.lastIndexOf('--snapshots')
const snapshots = folderAt === -1 ? undefined : process.argv[folderAt + 1]
await using programs = await openPrograms(snapshots)
const { service, proxy, key, tills } = programs
const browser = new TestBrowser(() => proxy, ORIGIN)
await browser.signIn(evmWallet())

type Samples = { requests: number; sample: Record<ProgramName, SoakSample> }[]

let sent = 0
let unexpected = 0
let payments = 0
const paymentIds: string[] = []
const samples: Samples = []
await fillEvents()
const startedAt = Date.now()
const until = startedAt + minutes * 60_000
while (Date.now() < until) {
  const target = sent + every
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      while (sent < target && Date.now() < until) {
        const index = sent++
        const ahead = (index / rate) * 1_000 - (Date.now() - startedAt)
        if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead))
        await send(index)
      }
    }),
  )
  samples.push({ requests: sent, sample: await measure() })
  if (snapshots !== undefined && SNAPSHOTS_AT.includes(sent))
    for (const program of PROGRAMS) console.log(await programs.writeSnapshot(program))
}

let missed = 0
const enough = samples.length >= LEAST_MEASUREMENTS
check('measurements', `${samples.length} (bar at least ${LEAST_MEASUREMENTS})`, enough)
for (const program of PROGRAMS) {
  const heap = slope(program, ({ heapBytes }) => heapBytes) / MIB
  const handles = slope(program, ({ handles: count }) => count)
  const descriptors = slope(program, ({ descriptors: count }) => count)
  const grown = Math.max(
    rise(program, ({ handles: count }) => count),
    rise(program, ({ descriptors: count }) => count),
  )
  check(
    `${program}: heap per 10,000 requests`,
    `${heap.toFixed(3)} MiB (bar ${MOST_HEAP_MIB})`,
    heap <= MOST_HEAP_MIB,
  )
  check(
    `${program}: handles and descriptors per 10,000 requests`,
    `${handles.toFixed(2)} and ${descriptors.toFixed(2)}, ${grown} more in the second half (bar ${MOST_HANDLES})`,
    grown <= MOST_HANDLES,
  )
}
check('unexpected answers', `${unexpected} of ${sent} (bar 0)`, unexpected === 0)
process.exitCode = missed === 0 ? 0 : 1

function check(name: string, value: string, met: boolean): void {
  if (!met) missed++
  console.log(`${name}: ${value}${met ? '' : ' MISSED'}`)
}

function toService(
  path: string,
  body?: object,
  more: Record<string, string> = {},
): Promise<Response> {
  return fetch(service + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
    ...(body && { body: JSON.stringify(body) }),
  })
}

function pay(): Promise<Response> {
  const till = tills[payments % tills.length]
  const body = { walletAddress: till?.address, recipientAddress: till?.payee, amount: 0.001 }
  return toService('/payment/send', body, {
    'Idempotency-Key': `soak-${payments++}`,
    Prefer: 'wait=0',
  })
}

/** The proxy stores the newest events of its account. Until it has as many as it stores, its heap grows. */
async function fillEvents(): Promise<void> {
  for (;;) {
    const events = await programs.countEvents()
    console.log(`${payments} payments and ${events} events before the first request`)
    if (events >= STORED_EVENTS) return void (await measure())
    for (let index = 0; index < PAYMENTS_AT_ONCE; index++) {
      const response = await pay()
      if (!response.ok) throw new Error(`A payment got ${await response.text()}`)
      await response.text()
    }
  }
}

/** One request of the mix: mostly reads; each 50th is a payment. */
async function send(index: number): Promise<void> {
  const { address = '', payee = '' } = tills[index % tills.length] ?? {}
  const invalid = { walletAddress: address, recipientAddress: payee }
  const id = paymentIds[index % Math.max(1, paymentIds.length)]
  const toProxy = (path: string) =>
    fetch(proxy + path, {
      headers: browser.headers({
        'X-Forwarded-For': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
      }),
    })
  const requests: [status: number, request: () => Promise<Response>][] = [
    [200, () => toService('/payments?limit=10')],
    [200, () => toService(id === undefined ? '/wallets' : `/payment/status/${id}`)],
    [400, () => toService('/payment/send', { ...invalid, amount: 'none' })],
    [401, () => toService('/wallets', undefined, { authorization: 'Bearer pk_test_none' })],
    [200, () => toProxy('/api/config')],
    [200, () => toProxy('/api/session')],
    [200, () => toService(`/payment/history/${address}?limit=10`)],
    [200, () => toService('/facilitator/supported')],
    [404, () => toService('/nowhere')],
    [
      400,
      () =>
        toService('/payment/receive', {
          walletAddress: payee,
          paymentProof: 'e30=',
          expectedAmount: 1,
        }),
    ],
  ]
  const chosen = requests[index % requests.length]
  if (!chosen) return
  const [status, request] = index % 50 === 49 ? ([202, pay] as const) : chosen
  try {
    const response = await request()
    const text = await response.text()
    const paymentId = /"paymentId":"(pay_\w+)"/.exec(text)?.[1]
    if (paymentId !== undefined && paymentIds.length < 100) paymentIds.push(paymentId)
    // Addresses that guess keys are slowed down, and a payment may be confirmed before it is answered.
    if (response.status === status || (status === 401 && response.status === 429)) return
    if (status === 202 && response.status === 200) return
    unexpected++
    if (unexpected <= 10)
      console.error(`request ${index}: ${response.status} ${text.slice(0, 200)}`)
  } catch (error) {
    unexpected++
    if (unexpected <= 10) console.error(`request ${index}:`, error)
  }
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1)
}

/** Growth per 10,000 requests of the line that fits the second half of the measurements best. */
function slope(program: ProgramName, read: (sample: SoakSample) => number): number {
  const points = samples
    .slice(samples.length >> 1)
    .map(({ requests, sample }) => ({ x: requests, y: read(sample[program]) }))
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length
  const above = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  const below = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return below === 0 ? 0 : (above / below) * 10_000
}

/** How much higher the least value of the second half is: connections that wait to be used again come and go. */
function rise(program: ProgramName, read: (sample: SoakSample) => number): number {
  const values = samples.map(({ sample }) => read(sample[program]))
  const middle = values.length >> 1
  return Math.min(...values.slice(middle)) - Math.min(...values.slice(0, middle))
}

async function measure(): Promise<Record<ProgramName, SoakSample>> {
  const [ofService, ofProxy] = [await programs.measure('service'), await programs.measure('bff')]
  for (const [program, sample] of [
    ['service', ofService],
    ['bff', ofProxy],
  ] as const)
    console.log(
      `${sent} requests, ${program}: heap ${mib(sample.heapBytes)} MiB, outside of it ${mib(sample.externalBytes)} MiB, rss ${mib(sample.rssBytes)} MiB, ${sample.handles} handles, ${sample.descriptors} descriptors`,
    )
  return { service: ofService, bff: ofProxy }
}
