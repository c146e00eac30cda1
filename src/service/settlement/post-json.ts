import { parseJson, stringifyJson } from '#contract/json.ts'
import { EgressError, exchange } from '#egress/exchange.ts'

const MAX_ANSWER_BYTES = 64 * 1024

export type EgressOptions = {
  timeoutMs: number
  /** For tests and the embedded network: `http://127.0.0.1` is allowed, and nothing else beside. */
  loopback: boolean
}

/**
 * Sends JSON and reads JSON, at most 64 KiB, under the rules of `exchange`.
 * @throws EgressProblem, for an answer that is no 200 or no JSON too
 */
export async function postJson(url: URL, body: unknown, options: EgressOptions): Promise<unknown> {
  const question = {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: new TextEncoder().encode(stringifyJson(body)),
  }
  const answer = await exchange(question, { ...options, maxBytes: MAX_ANSWER_BYTES })
  try {
    if (answer.status !== 200)
      throw new Error(`Expected the status 200, received ${answer.status}.`)
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(answer.body))
  } catch (error) {
    throw new EgressError(error)
  }
}
