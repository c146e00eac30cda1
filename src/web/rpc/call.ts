import { t } from '@lingui/core/macro'
import { parseJson, stringifyJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import { getPreferences } from '../local-data/preferences.ts'

const TIMEOUT_MS = 10_000

/** A node that could not be asked, or answered with an error. Its message is a sentence for the reader. */
export class RpcError extends Error {
  override name = 'RpcProblem'
  /** The node answered, and said no: to a call, as the contract would. */
  readonly refused: boolean

  constructor(
    message: string,
    { refused = false, ...options }: ErrorOptions & { refused?: boolean } = {},
  ) {
    super(message, options)
    this.refused = refused
  }
}

/** The node this browser asks: the reader's own choice before the configured one. */
export function rpcUrlOf(network: Network): string {
  return getPreferences().rpcUrls[network.network] ?? network.rpcUrls[0] ?? ''
}

/**
 * One JSON-RPC call, straight from the browser.
 * @throws RpcProblem
 */
export async function callRpc(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const host = URL.canParse(url) ? new URL(url).host : url
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  let text: string
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: stringifyJson({ jsonrpc: '2.0', id: 1, method, params }),
      signal: timeout,
    })
    const { status } = response
    if (!response.ok) throw new RpcError(t`${host} answered ${status}.`)
    text = await response.text()
  } catch (error) {
    if (error instanceof RpcError) throw error
    throw new RpcError(
      timeout.aborted ? t`${host} timed out.` : t`${host} is unreachable or blocked.`,
      { cause: error },
    )
  }
  return readResult(text, host)
}

function readResult(text: string, host: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw new RpcError(t`${host} sent an invalid answer.`, { cause: error })
  }
  if (typeof value !== 'object' || value === null)
    throw new RpcError(t`${host} sent an invalid answer.`)
  if ('error' in value && value.error)
    throw new RpcError(t`${host} rejected the request.`, {
      cause: value.error,
      refused: true,
    })
  if (!('result' in value)) throw new RpcError(t`${host} sent an invalid answer.`)
  return value.result
}
