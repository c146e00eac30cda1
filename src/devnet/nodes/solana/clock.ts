import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js'
import * as v from 'valibot'
import { mustRpc, type Surfnet } from './surfnet.ts'

/**
 * The node's clock goes ahead of ours: by the time of all slots that it jumps over at a restart, and by a second in about 75, since its blocks are a little
 * early. It cannot be set back, so its times are corrected when they are read.
 */

export const CLOCK = SYSVAR_CLOCK_PUBKEY.toBase58()

const Account = v.looseObject({
  value: v.looseObject({ data: v.tuple([v.string(), v.literal('base64')]) }),
})
const ParsedAccount = v.looseObject({
  value: v.looseObject({
    data: v.looseObject({
      parsed: v.looseObject({ info: v.looseObject({ unixTimestamp: v.number() }) }),
    }),
  }),
})

/** Slot, start of the epoch, epoch and next epoch come before the Unix seconds, with 8 bytes each. */
const TIME_OFFSET = 32

/** By how many seconds the node's newest block is ahead of the time now. */
export async function readSecondsAhead(surfnet: Surfnet): Promise<number> {
  const options = { encoding: 'base64', commitment: 'processed' }
  const { value } = v.parse(Account, await mustRpc(surfnet, 'getAccountInfo', [CLOCK, options]))
  const time = Buffer.from(value.data[0], 'base64').readBigInt64LE(TIME_OFFSET)
  return Number(time) - Math.floor(Date.now() / 1000)
}

/** An answer about the clock account, with its time set back. Encodings that nobody uses for it stay as they are. */
export function setBack(answer: unknown, seconds: number): unknown {
  const account = v.safeParse(Account, answer)
  if (account.success) {
    const [data, encoding] = account.output.value.data
    const bytes = Buffer.from(data, 'base64')
    bytes.writeBigInt64LE(bytes.readBigInt64LE(TIME_OFFSET) - BigInt(seconds), TIME_OFFSET)
    const value = { ...account.output.value, data: [bytes.toString('base64'), encoding] }
    return { ...account.output, value }
  }
  const parsed = v.safeParse(ParsedAccount, answer)
  if (!parsed.success) return answer
  parsed.output.value.data.parsed.info.unixTimestamp -= seconds
  return parsed.output
}
