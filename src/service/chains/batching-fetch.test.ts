import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import * as v from 'valibot'
import { batchingFetch } from './batching-fetch.ts'
import { NO_OBSERVER, observedFetch } from './endpoints.ts'

/** Small reads of one moment are one HTTP request, and each caller gets its own answer, whatever the node says. */

const Question = v.object({ id: v.unknown(), method: v.string() })
type Question = v.InferOutput<typeof Question>
type Reply = { status?: number; body: unknown }

/** A node that answers what `answer` says, and remembers what it was asked. */
async function startNode(answer: (asked: Question | Question[]) => Reply) {
  const bodies: (Question | Question[])[] = []
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const asked = v.parse(v.union([v.array(Question), Question]), JSON.parse(text))
      bodies.push(asked)
      const { status = 200, body } = answer(asked)
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asking = batchingFetch(fetch, ({ method }) => method !== 'large')
  const askBy =
    (request: typeof fetch) =>
    async (id: string, method = 'small') =>
      (
        await request(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id, method }) })
      ).json()
  return {
    ask: askBy(asking),
    together: () => askBy(asking.together()),
    bodies,
    url,
    requests: () => bodies.length,
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

const honest = ({ id, method }: Question) => ({ jsonrpc: '2.0', id, result: `${method} ${id}` })
const answerAlone = (asked: Question | Question[]): Reply =>
  Array.isArray(asked)
    ? { status: 400, body: { error: 'no batches' } }
    : { body: { ...honest(asked), result: asked.id } }

test('reads of one moment are one request, and each gets the answer with its id, in any order', async () => {
  const { ask, requests } = await startNode((asked) => ({
    body: Array.isArray(asked) ? asked.map(honest).toReversed() : honest(asked),
  }))
  const answers = await Promise.all([ask('a', 'one'), ask('b', 'two'), ask('c', 'three')])
  expect(answers).toEqual([
    { jsonrpc: '2.0', id: 'a', result: 'one 0' },
    { jsonrpc: '2.0', id: 'b', result: 'two 1' },
    { jsonrpc: '2.0', id: 'c', result: 'three 2' },
  ])
  expect(requests()).toBe(1)
})

test('a read without others is no batch, and what executes code is always asked by itself', async () => {
  const { ask, bodies } = await startNode((asked) => ({
    body: Array.isArray(asked) ? asked.map(honest) : honest(asked),
  }))
  expect(await ask('a')).toEqual({ jsonrpc: '2.0', id: 'a', result: 'small a' })
  await Promise.all([ask('b', 'large'), ask('c', 'large'), ask('d')])
  expect(bodies.some(Array.isArray)).toBe(false)
  expect(bodies).toHaveLength(4)
})

test('what one caller asks together is one request, and no other caller waits for it', async () => {
  const { ask, together, bodies } = await startNode((asked) => ({
    body: Array.isArray(asked) ? asked.map(honest) : honest(asked),
  }))
  const [one, other] = [together(), together()]
  await Promise.all([one('a', 'large'), one('b'), other('c', 'large'), other('d'), ask('e')])
  const asked = bodies.map((body) => [body].flat().map(({ method }) => method))
  expect(asked).toHaveLength(3)
  expect(asked).toEqual(expect.arrayContaining([['large', 'small'], ['large', 'small'], ['small']]))
})

test('more than ten reads are batches of ten', async () => {
  const { ask, bodies } = await startNode((asked) => ({
    body: Array.isArray(asked) ? asked.map(honest) : honest(asked),
  }))
  await Promise.all(Array.from({ length: 25 }, (_, index) => ask(String(index))))
  expect(
    bodies.map((body) => (Array.isArray(body) ? body.length : 1)).toSorted((a, b) => b - a),
  ).toEqual([10, 10, 5])
})

test.each<[string, (asked: Question[]) => Reply]>([
  ['refuses batches', () => ({ status: 400, body: 'Bad request' })],
  ['answers a batch with a page', () => ({ body: '<html></html>' })],
  ['answers a batch with one error', () => ({ body: { id: null, error: { message: 'no' } } })],
  ['leaves out an answer', (asked) => ({ body: asked.slice(1).map(honest) })],
  ['answers one of them twice', (asked) => ({ body: [asked[0], asked[0]] })],
  [
    'says it in place of each answer',
    (asked) => ({
      body: asked.map(({ id }) => ({ id, error: { message: 'Batch requests are not allowed' } })),
    }),
  ],
])('a node that %s is asked one by one, and not in batches again', async (_, refuse) => {
  const { ask, bodies } = await startNode((asked) =>
    Array.isArray(asked) ? refuse(asked) : answerAlone(asked),
  )
  const both = () => Promise.all([ask('a'), ask('b')])
  expect((await both()).map(({ result }) => result)).toEqual(['a', 'b'])
  expect((await both()).map(({ result }) => result)).toEqual(['a', 'b'])
  expect(bodies.filter(Array.isArray)).toHaveLength(1)
})

test('a node that refuses what one caller asks together still gets small reads in batches', async () => {
  const { ask, together, bodies } = await startNode((asked) => {
    if (!Array.isArray(asked)) return answerAlone(asked)
    return asked.some(({ method }) => method === 'large')
      ? { status: 400, body: 'Bad request' }
      : { body: asked.map(honest) }
  })
  for (let time = 0; time < 2; time++) {
    const alone = together()
    const answers = await Promise.all([alone('a', 'large'), alone('b')])
    expect(answers.map(({ result }) => result)).toEqual(['a', 'b'])
  }
  await Promise.all([ask('c'), ask('d')])
  expect(bodies.filter(Array.isArray)).toHaveLength(2)
})

test('a busy node is not asked again for each of them', async () => {
  const { ask, requests } = await startNode(() => ({ status: 429, body: '' }))
  await Promise.allSettled([ask('a'), ask('b'), ask('c')])
  expect(requests()).toBe(1)
})

test('an error of one request is the answer to it alone', async () => {
  const { ask } = await startNode((asked) => ({
    body: Array.isArray(asked)
      ? asked.map((each, place) =>
          place === 0 ? { id: each.id, error: { code: 3, message: 'reverted' } } : honest(each),
        )
      : honest(asked),
  }))
  expect(await Promise.all([ask('a'), ask('b')])).toEqual([
    { id: 'a', error: { code: 3, message: 'reverted' } },
    { jsonrpc: '2.0', id: 'b', result: 'small 1' },
  ])
})

test('an answer to a batch that is too large fails the reads that have such an answer alone, and no other', async () => {
  const { url } = await startNode((asked) => ({
    body: Array.isArray(asked) ? ' '.repeat(11 * 2 ** 20) : honest(asked),
  }))
  const asking = batchingFetch(
    observedFetch('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', NO_OBSERVER),
    () => true,
  )
  const ask = async (id: string, method: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method })
    return (await asking(url, { method: 'POST', body })).json()
  }
  expect(await Promise.all([ask('a', 'getSlot'), ask('b', 'getMultipleAccounts')])).toMatchObject([
    { result: 'getSlot a' },
    { result: 'getMultipleAccounts b' },
  ])
})
