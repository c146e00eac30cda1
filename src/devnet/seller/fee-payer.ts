import * as v from 'valibot'
import { familyOf } from '#contract/network.ts'
import type { Service } from './service-client.ts'

const Supported = v.object({
  kinds: v.array(
    v.object({
      network: v.string(),
      extra: v.optional(v.object({ feePayer: v.optional(v.string()) })),
    }),
  ),
})

/** A service that just started may have told nobody yet. */
const KNOWN_MS = 30_000

/** Who pays Solana for those who pay in tokens, as the service says it; looked up again now and then. Undefined while nobody does. */
export function readFeePayer({ url, apiKey }: Service): () => Promise<string | undefined> {
  let known: { at: number; feePayer: Promise<string | undefined> } | undefined
  return async () => {
    if (!known || performance.now() - known.at > KNOWN_MS)
      known = { at: performance.now(), feePayer: ask(url, apiKey) }
    const feePayer = await known.feePayer
    // What could not be read is read again at the next visit.
    if (feePayer === undefined) known = undefined
    return feePayer
  }
}

async function ask(url: string, apiKey: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/facilitator/supported`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(3_000),
    })
    const { kinds } = v.parse(Supported, await response.json())
    return kinds.find(
      ({ network, extra }) => familyOf(network) === 'solana' && extra?.feePayer !== undefined,
    )?.extra?.feePayer
  } catch {
    return undefined
  }
}
