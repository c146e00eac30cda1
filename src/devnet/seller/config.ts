import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { address } from '#contract/address-field.ts'
import { Network } from '#contract/network.ts'

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
