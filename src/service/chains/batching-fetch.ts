import * as v from 'valibot'
import { isTooLarge, OversizedAnswerError } from './endpoints.ts'

/** Requests in one batch: what the strictest public nodes take. */
export const BATCH_SIZE = 10
/** How long a node that refused a batch is asked one by one, in milliseconds. */
const REFUSED_MS = 600_000
const TOO_MANY_REQUESTS = 429

const Question = v.looseObject({
  id: v.union([v.string(), v.number()]),
  method: v.string(),
  params: v.optional(v.array(v.unknown()), []),
})
export type RpcQuestion = v.InferOutput<typeof Question>

const Answers = v.array(
  v.looseObject({
    id: v.number(),
    error: v.optional(v.looseObject({ message: v.optional(v.string(), '') })),
  }),
)
type Answer = v.InferOutput<typeof Answers>[number]

type Waiting = {
  question: RpcQuestion
  init: RequestInit
  response: PromiseWithResolvers<Response>
}

/**
 * What goes into one kind of batch, when it is sent, and until when the node is asked one by one
 * instead. A node may take a batch of small reads and refuse one that executes code.
 */
type BatchKind = {
  isTaken: (question: RpcQuestion) => boolean
  defer: (send: () => void) => unknown
  refusedUntil: number
}

/** `together`: a `fetch` for one caller alone, who waits for all answers anyway. Whatever it asks at one moment goes as one HTTP request. */
export type BatchingFetch = typeof fetch & { together: () => typeof fetch }

/**
 * `fetch` for JSON-RPC to one node: small reads of one moment go as one HTTP request, everything else goes by
 * itself. A node that takes no batch, or does not answer each request of it, is asked one by one. Each caller
 * gets the response to its own request.
 * @param isSmall whether the answer is small and costs the node no work, whatever account it is about:
 * otherwise one caller could have all others of that moment wait or fail
 */
export function batchingFetch(
  request: typeof fetch,
  isSmall: (question: RpcQuestion) => boolean,
): BatchingFetch {
  async function send(
    input: Parameters<typeof fetch>[0],
    waiting: readonly Waiting[],
    kind: BatchKind,
  ): Promise<unknown> {
    const [first] = waiting
    if (!first) return undefined
    const alone = () =>
      Promise.all(
        waiting.map(({ init, response }) =>
          request(input, init).then(response.resolve, response.reject),
        ),
      )
    if (waiting.length === 1) return alone()
    try {
      const body = JSON.stringify(waiting.map(({ question }, id) => ({ ...question, id })))
      const received = await request(input, { ...first.init, body })
      const { status } = received
      if (status === TOO_MANY_REQUESTS) {
        // A node that is busy is not asked more often.
        for (const { response } of waiting) response.resolve(new Response(null, { status }))
        return undefined
      }
      const answers = await readAnswers(received, waiting)
      if (!answers) {
        if (status < 500) kind.refusedUntil = performance.now() + REFUSED_MS
        return await alone()
      }
      for (const [id, { question, response }] of waiting.entries())
        response.resolve(Response.json({ ...answers.get(id), id: question.id }))
    } catch (error) {
      // Each answer is judged by itself.
      if (error instanceof OversizedAnswerError || isTooLarge(error)) return alone()
      for (const { response } of waiting) response.reject(error)
    }
    return undefined
  }

  function open(kind: BatchKind): typeof fetch {
    let queue: Waiting[] = []
    return (input, init = {}) => {
      const question = readQuestion(init.body)
      if (!question || !kind.isTaken(question) || performance.now() < kind.refusedUntil)
        return request(input, init)
      const waiting = { question, init, response: Promise.withResolvers<Response>() }
      queue.push(waiting)
      if (queue.length === 1)
        kind.defer(() => {
          const all = queue
          queue = []
          for (let start = 0; start < all.length; start += BATCH_SIZE)
            void send(input, all.slice(start, start + BATCH_SIZE), kind)
        })
      return waiting.response.promise
    }
  }

  // In the millisecond of a timer, other callers join.
  const shared: BatchKind = { isTaken: isSmall, defer: setTimeout, refusedUntil: -Infinity }
  const ofOneCaller: BatchKind = {
    isTaken: () => true,
    defer: setImmediate,
    refusedUntil: -Infinity,
  }
  return Object.assign(open(shared), { together: () => open(ofOneCaller) })
}

function readQuestion(body: unknown): RpcQuestion | undefined {
  if (typeof body !== 'string' || body.startsWith('[')) return undefined
  const question = v.safeParse(Question, parse(body))
  return question.success ? question.output : undefined
}

/** By their place in the batch; undefined where one is missing, or where the node says that it takes no batch. */
async function readAnswers(
  response: Response,
  waiting: readonly Waiting[],
): Promise<ReadonlyMap<number, Answer> | undefined> {
  const answers = v.safeParse(Answers, parse(await response.text()))
  if (!response.ok || !answers.success) return undefined
  const found = new Map(answers.output.map((answer) => [answer.id, answer]))
  const complete = waiting.every((_, id) => found.has(id))
  // Some nodes say so in place of each answer.
  const refused = answers.output.every(({ error }) => error && /batch/i.test(error.message))
  return complete && !refused ? found : undefined
}

/** Undefined for what is no JSON, such as the page of a gateway. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
