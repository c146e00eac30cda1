import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { address } from '#contract/fields.ts'
import { Network, familyOf } from '#contract/network.ts'
import type { Service } from './service-client.ts'

const url = v.pipe(v.string(), v.url())

const Env = v.object({
  HOST: v.string(),
  PORT: v.pipe(v.string(), v.regex(/^[0-9]{1,5}$/), v.transform(Number)),
  /** Where buyers reach the shop. */
  URL: url,
  /** Where the dashboard is, which serves the pay button. */
  WEB_URL: url,
  SERVICE_URL: url,
  SERVICE_API_KEY: v.pipe(v.string(), v.minLength(1)),
  NETWORKS_FILE: v.string(),
  PAY_TO_EVM: address,
  PAY_TO_SOLANA: address,
})

/** What the shop is told by its environment. @throws Error that names the variable */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const result = v.safeParse(Env, env)
  if (!result.success)
    throw new Error(
      `${v.getDotPath(result.issues[0]) ?? 'The environment'}: ${result.issues[0].message}`,
    )
  const { NETWORKS_FILE, ...config } = result.output
  return {
    ...config,
    networks: v.parse(v.array(Network), JSON.parse(readFileSync(NETWORKS_FILE, 'utf8'))),
  }
}

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
      known = { at: performance.now(), feePayer: fetchFeePayer(url, apiKey) }
    const feePayer = await known.feePayer
    // What could not be read is read again at the next visit.
    if (feePayer === undefined) known = undefined
    return feePayer
  }
}

async function fetchFeePayer(url: string, apiKey: string): Promise<string | undefined> {
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
