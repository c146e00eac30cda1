import { ComputeBudgetProgram, VersionedMessage } from '@solana/web3.js'
import bs58 from 'bs58'
import * as v from 'valibot'
import { CLOCK, readSecondsAhead, setBack } from './clock.ts'
import type { SolanaHistory } from './history.ts'
import type { LandedTransaction } from './journal.ts'
import { epochInfo, rpc, type RpcResponse, type Surfnet } from './surfnet.ts'

const DEFAULT_UNITS = 200_000
const BUILTIN_UNITS = 3_000
const MAX_UNITS = 1_400_000
const BUILTINS = new Set([
  ComputeBudgetProgram.programId.toBase58(),
  '11111111111111111111111111111111',
])

/** What a message adds to the base fee through its compute budget, in lamports: unit price times unit limit, rounded up. */
function priorityFee(messageBase64: string): number {
  const message = VersionedMessage.deserialize(Buffer.from(messageBase64, 'base64'))
  let limit: number | undefined
  let microLamports = 0n
  let defaultLimit = 0
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = message.staticAccountKeys[programIdIndex]?.toBase58() ?? ''
    defaultLimit += BUILTINS.has(program) ? BUILTIN_UNITS : DEFAULT_UNITS
    if (program !== ComputeBudgetProgram.programId.toBase58()) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === 2 && bytes.length === 5) limit = bytes.readUInt32LE(1)
    if (bytes[0] === 3 && bytes.length === 9) microLamports = bytes.readBigUInt64LE(1)
  }
  const units = BigInt(Math.min(limit ?? defaultLimit, MAX_UNITS))
  return Number((units * microLamports + 999_999n) / 1_000_000n)
}

/** The first 32 characters of a genesis hash are the CAIP-2 name: with this one the local chain bears the name it is configured under. */
export const GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'

/** Slots between a block and its finality. */
const FINALITY_SLOTS = 31

export type OverrideChain = { surfnet: Surfnet; archive: SolanaHistory; heightOffset: number }

type Params = readonly unknown[]
type Answer = (chain: OverrideChain, params: Params) => Promise<RpcResponse>

const Options = v.object({
  encoding: v.optional(v.string(), 'json'),
  commitment: v.optional(v.string(), 'finalized'),
  maxSupportedTransactionVersion: v.optional(v.number()),
  searchTransactionHistory: v.optional(v.boolean(), false),
  skipPreflight: v.optional(v.boolean(), false),
  limit: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(1000)), 1000),
  before: v.optional(v.nullable(v.string())),
  until: v.optional(v.nullable(v.string())),
})

function optionsAt(params: Params, index: number): v.InferOutput<typeof Options> {
  const option = params[index]
  return v.parse(Options, typeof option === 'string' ? { encoding: option } : (option ?? {}))
}

/** What answers where this node differs from a cluster. Everything else goes to the node as it is. */
export function overrideOf(method: string, params: Params): Answer | undefined {
  if (method === 'getAccountInfo' && params[0] !== CLOCK) return undefined
  return methodOverrides[method]
}

const methodOverrides: Readonly<Record<string, Answer>> = {
  getGenesisHash: async () => ({ result: GENESIS_HASH }),

  getBlockHeight: raised(
    'getBlockHeight',
    (result, offset) => v.parse(v.number(), result) + offset,
  ),

  getEpochInfo: raised('getEpochInfo', (result, offset) => {
    const info = v.parse(v.looseObject({ blockHeight: v.number() }), result)
    return { ...info, blockHeight: info.blockHeight + offset }
  }),

  getLatestBlockhash: raised('getLatestBlockhash', (result, offset) => {
    const { value, ...rest } = v.parse(
      v.looseObject({ value: v.looseObject({ lastValidBlockHeight: v.number() }) }),
      result,
    )
    return {
      ...rest,
      value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight + offset },
    }
  }),

  getBlockTime: async ({ surfnet }, params) => {
    const answer = await rpc(surfnet, 'getBlockTime', params)
    return typeof answer.result === 'number'
      ? { result: answer.result - (await readSecondsAhead(surfnet)) }
      : answer
  },

  getAccountInfo: async ({ surfnet }, params) => {
    const answer = await rpc(surfnet, 'getAccountInfo', params)
    return answer.error === undefined
      ? { result: setBack(answer.result, await readSecondsAhead(surfnet)) }
      : answer
  },

  getFeeForMessage: async (chain, params) => {
    const answer = await rpc(chain.surfnet, 'getFeeForMessage', params)
    const fee = v.safeParse(v.looseObject({ value: v.number() }), answer.result)
    const [message] = params
    if (!fee.success || typeof message !== 'string') return answer
    return { result: { ...fee.output, value: fee.output.value + priorityFee(message) } }
  },

  sendTransaction: async (chain, params) => {
    const signature = firstSignature(params)
    // The node of an earlier run took it; this one has the same blockhashes again and would run it a second time.
    if (signature !== undefined && chain.archive.has(signature)) {
      return optionsAt(params, 1).skipPreflight
        ? { result: signature }
        : { error: ALREADY_PROCESSED }
    }
    return watched(chain, await rpc(chain.surfnet, 'sendTransaction', params))
  },

  requestAirdrop: async (chain, params) =>
    watched(chain, await rpc(chain.surfnet, 'requestAirdrop', params)),

  surfnet_setAccount: async (chain, params) => {
    const answer = await rpc(chain.surfnet, 'surfnet_setAccount', params)
    const [address] = params
    if (answer.error === undefined && typeof address === 'string')
      await chain.archive.keepAccount(address)
    return answer
  },

  getTransaction: async (chain, params) => {
    const [signature] = params
    const { encoding, commitment, maxSupportedTransactionVersion } = optionsAt(params, 1)
    if (typeof signature !== 'string' || !isSignature(signature))
      return rpc(chain.surfnet, 'getTransaction', params)
    const landed = await chain.archive.find(signature)
    if (!landed || (commitment === 'finalized' && landed.slot > (await finalizedSlot(chain))))
      return { result: null }
    const { version } = v.parse(
      v.object({ version: v.union([v.literal('legacy'), v.number()]) }),
      landed.json,
    )
    if (
      version !== 'legacy' &&
      (maxSupportedTransactionVersion === undefined || version > maxSupportedTransactionVersion)
    ) {
      return {
        error: {
          code: -32015,
          message: `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
        },
      }
    }
    return { result: spelled(landed, encoding) }
  },

  getSignatureStatuses: async (chain, params) => {
    await chain.archive.catchUp()
    const answer = await rpc(chain.surfnet, 'getSignatureStatuses', params)
    const statuses = v.safeParse(v.looseObject({ value: v.array(v.unknown()) }), answer.result)
    const requested = v.safeParse(v.array(v.string()), params[0])
    if (!statuses.success || !requested.success || !optionsAt(params, 1).searchTransactionHistory)
      return answer
    const value = await Promise.all(
      statuses.output.value.map(
        async (status, index) => status ?? (await archivedStatus(chain, requested.output[index])),
      ),
    )
    return { result: { ...statuses.output, value } }
  },

  getSignaturesForAddress: async (chain, params) => {
    const [address] = params
    // A malformed request gets the node's own refusal.
    if (
      typeof address !== 'string' ||
      bs58.decodeUnsafe(address)?.length !== 32 ||
      !v.is(Options, params[1] ?? {})
    )
      return rpc(chain.surfnet, 'getSignaturesForAddress', params)
    await chain.archive.catchUp()
    const { limit, before, until, commitment } = optionsAt(params, 1)
    const finalized = await finalizedSlot(chain)
    let list = chain.archive
      .ofAddress(address)
      .filter((landed) => commitment !== 'finalized' || landed.slot <= finalized)
    if (before) list = list.slice(list.findIndex(({ signature }) => signature === before) + 1)
    const end = list.findIndex(({ signature }) => signature === until)
    if (end >= 0) list = list.slice(0, end)
    return {
      result: list.slice(0, limit).map(({ signature, slot, err, memo, blockTime }) => ({
        signature,
        slot,
        err,
        memo,
        blockTime,
        confirmationStatus: slot <= finalized ? 'finalized' : 'confirmed',
      })),
    }
  },
}

const VERSION_1 = 0x81

const ALREADY_PROCESSED = {
  code: -32002,
  message: 'Transaction simulation failed: This transaction has already been processed',
  data: {
    accounts: null,
    err: 'AlreadyProcessed',
    innerInstructions: null,
    logs: [],
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: 0,
  },
}

/** Heights start at 0 with each run of the node; the offset makes them go on where the last run stopped. */
function raised(method: string, raise: (result: unknown, offset: number) => unknown): Answer {
  return async (chain, params) => {
    const answer = await rpc(chain.surfnet, method, params)
    return answer.error === undefined
      ? { result: raise(answer.result, chain.heightOffset) }
      : answer
  }
}

function watched(chain: OverrideChain, answer: RpcResponse): RpcResponse {
  if (typeof answer.result === 'string') chain.archive.watch(answer.result)
  return answer
}

async function finalizedSlot(chain: OverrideChain): Promise<number> {
  return (await epochInfo(chain.surfnet)).absoluteSlot - FINALITY_SLOTS
}

async function archivedStatus(
  chain: OverrideChain,
  signature: string | undefined,
): Promise<unknown> {
  const landed =
    signature !== undefined && isSignature(signature)
      ? await chain.archive.find(signature)
      : undefined
  if (!landed) return null
  return {
    slot: landed.slot,
    confirmations: null,
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    confirmationStatus: 'finalized',
  }
}

function spelled(landed: LandedTransaction, encoding: string): unknown {
  if (encoding === 'jsonParsed') return landed.jsonParsed
  if (encoding === 'base64') return landed.base64
  if (encoding !== 'base58') return landed.json
  const base64 = v.parse(
    v.looseObject({ transaction: v.tuple([v.string(), v.string()]) }),
    landed.base64,
  )
  return {
    ...base64,
    transaction: [bs58.encode(Buffer.from(base64.transaction[0], 'base64')), 'base58'],
  }
}

function isSignature(text: string): boolean {
  return bs58.decodeUnsafe(text)?.length === 64
}

/**
 * The id of a signed transaction: its first signature. A transaction of this chain has fewer than 128, so their count is one byte. In version 1 they come
 * last, and their count is the second byte.
 */
function firstSignature(params: Params): string | undefined {
  const [transaction] = params
  if (typeof transaction !== 'string') return undefined
  const { encoding } = v.parse(
    v.object({ encoding: v.optional(v.string(), 'base58') }),
    params[1] ?? {},
  )
  const bytes =
    encoding === 'base64' ? Buffer.from(transaction, 'base64') : bs58.decodeUnsafe(transaction)
  if (!bytes || bytes.length <= 65) return undefined
  const at = bytes[0] === VERSION_1 ? bytes.length - 64 * (bytes[1] ?? 0) : 1
  return at > 0 ? bs58.encode(bytes.subarray(at, at + 64)) : undefined
}
