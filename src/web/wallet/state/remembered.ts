import * as v from 'valibot'
import type { Family } from '#contract/address.ts'
import { parseJson } from '#contract/json.ts'

/** Which wallet of each family was connected last: the only thing kept about wallets, so that a reload finds them again without asking. */

const KEY = 'paydesk.wallets'
const Remembered = v.object({ evm: v.optional(v.string()), solana: v.optional(v.string()) })

export function rememberedWallet(family: Family): string | undefined {
  return readAll()[family]
}

export function rememberWallet(family: Family, walletId: string | undefined): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...readAll(), [family]: walletId }))
  } catch {
    // A browser that stores nothing only means connecting again after a reload.
  }
}

function readAll(): v.InferOutput<typeof Remembered> {
  try {
    const result = v.safeParse(Remembered, parseJson(localStorage.getItem(KEY) ?? '{}'))
    return result.success ? result.output : {}
  } catch {
    return {}
  }
}
