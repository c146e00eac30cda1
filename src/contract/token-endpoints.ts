import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic } from './fields.ts'

/** Tokens (specification section 4, Other). */
export const tokenEndpoints = {
  tokenInfo: {
    method: 'GET',
    path: '/token/info/:mintAddress',
    response: v.object({
      success: v.literal(true),
      address: v.string(),
      network: v.string(),
      standard: v.picklist(['spl-token', 'token-2022', 'erc20', 'native']),
      name: v.nullable(v.string()),
      symbol: v.nullable(v.string()),
      decimals: v.number(),
      totalSupply: v.nullable(atomic),
      mintAuthority: v.nullable(v.string()),
      freezeAuthority: v.nullable(v.string()),
      /** Whether the token takes EIP-3009 authorizations; false off EVM. */
      eip3009: v.boolean(),
      /** What `owner` lets the Permit2 contract take, read at the moment; null without an owner, for the native currency, and off EVM. */
      permit2Allowance: v.nullable(atomic),
    }),
  },
} as const satisfies Record<string, Call>
