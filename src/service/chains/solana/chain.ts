import {
  SYSVAR_CLOCK_PUBKEY,
  type Commitment,
  type Connection,
  PublicKey,
  ComputeBudgetProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { feeBoundAtomic, priorityFeeOfPrice } from '#chains/solana/fee.ts'
import { MEMO_PROGRAM } from '#chains/solana/programs.ts'
import type { Network } from '#contract/network.ts'
import {
  requireSince,
  type Chain,
  type ChainClock,
  type Head,
  type OpenPayment,
  type Ready,
  type SenderFunds,
} from '../chain.ts'
import { NO_OBSERVER } from '../endpoints.ts'
import { Recent, remember } from '../recent.ts'
import { audit, readHistory } from './audit.ts'
import { broadcast, simulateSigned } from './broadcast.ts'
import { build } from './build.ts'
import { openEndpoints, readRentMinimum, type SolanaEndpoints } from './client.ts'
import { readUnitPrice, UNIT_LIMIT } from './fees.ts'
import {
  openAbsence,
  openMessageSearch,
  openNamedSearch,
  openReceivers,
  openSearch,
} from './find.ts'
import { isGone, observe, readStatuses } from './observe.ts'
import { readToken } from './token.ts'

const TOKEN_TTL_MS = 60_000
const CLOCK_TTL_MS = 1_000

/** A Solana cluster behind the port. Opens no connection before it is asked. */
export function openSolanaChain(network: Network, observer = NO_OBSERVER): Chain {
  const endpoints = openEndpoints(network, observer)
  const head = new Recent(network.blockTimeMs / 2, async () => {
    const found = await readHead(endpoints)
    observer.sawBlock(network.network, found.height)
    return found
  })
  const clock = new Recent(Math.min(CLOCK_TTL_MS, network.blockTimeMs / 2), () =>
    readClock(endpoints),
  )
  const token = remember(TOKEN_TTL_MS, (address) => readToken(endpoints, network, address))
  const receiverOf = openReceivers(endpoints)
  const search = openSearch(endpoints, receiverOf)
  const messages = openMessageSearch(endpoints, receiverOf)
  const absence = openAbsence(endpoints, receiverOf)
  return {
    network,
    scansBlocks: false,
    graceBlocks: null,
    head: () => head.fresh(),
    recentHead: () => head.patient(),
    clock: () => clock.fresh(),
    build: (intent, options) => build(endpoints, network, { intent, ...options }),
    note: (note) => buildNote(endpoints, note),
    observe: (signature, as) => observe(endpoints, signature, { as }),
    observeTwice: (signature) => observe(endpoints, signature, { twice: true }),
    find: async (monitored, { to }) => ({ ...(await search(monitored)), readTo: to }),
    findNamed: openNamedSearch(endpoints, receiverOf),
    skip: async () => false,
    findByMessage: messages.find,
    canNeverLand: absence.canNeverLand,
    isGone: (landed) => isGone(endpoints, landed),
    simulateSigned: (bytes, paid) => simulateSigned(endpoints, network, { bytes, paid }),
    broadcast: (bytes) => broadcast(endpoints, bytes),
    funds: (address, openPayments) => readFunds(endpoints, address, openPayments),
    audit: (wallet, since) => audit(endpoints, network, { wallet, since }),
    headSince: (time) => readHeadSince(endpoints, time),
    history: (wallet, query) => readHistory(endpoints, wallet, query),
    token,
    contracts: null,
    check: async () => void (await head.fresh()),
    close: async () => {
      absence.close()
      messages.close()
    },
  }
}

/** Slots, and beside them block heights: a skipped slot has no block. */
function readHead(endpoints: SolanaEndpoints): Promise<Head> {
  return endpoints.request(readHeadOf)
}

async function readHeadOf(connection: Connection): Promise<Head> {
  const [height, finalizedHeight, blockHeight, finalizedBlockHeight] = await Promise.all([
    connection.getSlot('confirmed'),
    connection.getSlot('finalized'),
    connection.getBlockHeight('confirmed'),
    connection.getBlockHeight('finalized'),
  ])
  return { height, finalizedHeight, blockHeight, finalizedBlockHeight }
}

/** The heights are read after the time: they are not below it. */
function readHeadSince(endpoints: SolanaEndpoints, time: Date): Promise<Head> {
  return endpoints.request(async (connection) => {
    requireSince(await readTime(connection, 'confirmed'), time)
    return readHeadOf(connection)
  })
}

/** The times of the newest confirmed and of the newest final slot, as the cluster's own clock tells them. */
function readClock(endpoints: SolanaEndpoints): Promise<ChainClock> {
  return endpoints.requestSoon(async (connection) => {
    const [head, finalized] = await Promise.all([
      readTime(connection, 'confirmed'),
      readTime(connection, 'finalized'),
    ])
    return { head, finalized }
  })
}

/** The clock account: slot, start of the epoch, epoch, next epoch, then Unix seconds, of 8 bytes each. */
const TIME_OFFSET = 32

async function readTime(connection: Connection, commitment: Commitment): Promise<Date> {
  const account = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, commitment)
  if (!account) throw new Error('The node does not show the clock of the cluster.')
  const bytes = new DataView(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  return new Date(Number(bytes.getBigInt64(TIME_OFFSET, true)) * 1000)
}

/**
 * What a wallet holds, and which of its open payments that balance certainly includes: those
 * confirmed before the balance was requested, in a slot before the balance's own. Neither condition
 * is enough alone: one endpoint may have several nodes at different heights, and a node may label a
 * balance with a slot that it reached after reading the balance. Payments that are not certain
 * count as still to be paid.
 */
function readFunds(
  endpoints: SolanaEndpoints,
  wallet: string,
  openPayments: (since: number) => Promise<readonly OpenPayment[]>,
): Promise<SenderFunds> {
  return endpoints.request(async (connection): Promise<SenderFunds> => {
    const since = await connection.getSlot('confirmed')
    const open = await openPayments(since)
    const slots = await readSlots(
      connection,
      open.flatMap(({ signatures }) => signatures),
    )
    // A node that is behind refuses to answer.
    const [{ context, value }, rent] = await Promise.all([
      connection.getBalanceAndContext(new PublicKey(wallet), {
        commitment: 'confirmed',
        minContextSlot: since,
      }),
      readRentMinimum(connection, 0),
    ])
    const isIn = ({ signatures }: OpenPayment) =>
      signatures.some((signature) => (slots.get(signature) ?? Infinity) < context.slot)
    const [landed, unproven] = [open.filter(isIn), open.filter((payment) => !isIn(payment))]
    return {
      height: since,
      balanceAtomic: BigInt(value),
      nonce: null,
      landed: new Set(landed.map(({ id }) => id)),
      unproven: new Set(unproven.map(({ id }) => id)),
      minimumAtomic: BigInt(rent),
    }
  })
}

/** The slots of the confirmed ones. */
async function readSlots(
  connection: Connection,
  signatures: readonly string[],
): Promise<Map<string, number>> {
  const { statuses } = await readStatuses(connection, signatures)
  return new Map(
    signatures.flatMap((signature, index): [string, number][] => {
      const status = statuses[index]
      return status && status.confirmationStatus !== 'processed' ? [[signature, status.slot]] : []
    }),
  )
}

/** Builds the transaction in which a payee writes that it was paid: a memo, signed and paid for by the payee. It moves nothing. */
function buildNote(
  endpoints: SolanaEndpoints,
  {
    payee,
    text,
    priorityFeeAtomic,
  }: { payee: string; text: string; priorityFeeAtomic: bigint | undefined },
): Promise<Ready> {
  return endpoints.request(async (connection): Promise<Ready> => {
    const payer = new PublicKey(payee)
    const [price, latest] = await Promise.all([
      readUnitPrice(connection, [payee], priorityFeeAtomic),
      connection.getLatestBlockhashAndContext('confirmed'),
    ])
    const instructions = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: UNIT_LIMIT }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price }),
      // Naming the signer has the memo program check its signature.
      new TransactionInstruction({
        programId: new PublicKey(MEMO_PROGRAM),
        keys: [{ pubkey: payer, isSigner: true, isWritable: false }],
        data: Buffer.from(text),
      }),
    ]
    const { blockhash, lastValidBlockHeight } = latest.value
    const message = new TransactionMessage({
      payerKey: payer,
      recentBlockhash: blockhash,
      instructions,
    }).compileToV0Message()
    return {
      ok: true,
      bytes: new VersionedTransaction(message).serialize(),
      encoding: 'solana-wire-v0',
      builtHeight: latest.context.slot,
      lastValidBlockHeight,
      feeAtomic: feeBoundAtomic({
        signatures: 1,
        instructions: instructions.length,
        unitLimit: UNIT_LIMIT,
        unitPriceMicroLamports: price,
      }),
      priorityFeeAtomic: priorityFeeOfPrice(price, BigInt(UNIT_LIMIT)),
      decoded: {
        feePayer: payee,
        blockhash,
        unitLimit: UNIT_LIMIT,
        unitPriceMicroLamports: price.toString(),
        memo: text,
      },
    }
  })
}
