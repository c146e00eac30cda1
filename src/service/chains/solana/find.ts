import { PublicKey, type ConfirmedSignatureInfo, type Connection } from '@solana/web3.js'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import type { Found, MonitoredTransaction } from '../chain.ts'
import { inParallel } from '../endpoints.ts'
import type { SolanaEndpoints } from './client.ts'
import { isPaidBy, isRefused, readStatuses } from './observe.ts'

const PARALLEL_ACCOUNTS = 4
const PAGE = 1_000
/** Most searches reach back a minute: the first page is short, so that a busy payee's answer is small. */
const FIRST_PAGE = 100
/** An account with more transactions than this since a payment was built is read no further back. */
const MAX_PAGES = 5
/** A proof reads further: a list that ends before it reaches the payment proves nothing. */
const MAX_PROOF_PAGES = 20

/**
 * Searches for payments by memo, among the transactions of their payees: many drafts pay few
 * payees, and anybody may name any payer in a draft. Where there are fewer payers than payees, and
 * for a payee with too many transactions to be read back far enough, among those of the payers.
 * Anyone can put an id into a memo and name an account beside it, so that one payment may be found
 * several times: each is only a candidate.
 */
export function openSearch(
  endpoints: SolanaEndpoints,
): (monitored: readonly MonitoredTransaction[]) => Promise<Found[]> {
  const programs = new Map<string, string>()
  const sendersOf = (payments: readonly MonitoredTransaction[]) =>
    Map.groupBy(payments, ({ sender }) => sender)

  /** The token program of a mint never changes. */
  async function programOf(mint: string): Promise<string | undefined> {
    const known = programs.get(mint)
    if (known !== undefined) return known
    const account = await endpoints.request((connection) =>
      connection.getAccountInfo(new PublicKey(mint), 'confirmed'),
    )
    const program = account?.owner.toBase58()
    if (program !== undefined) programs.set(mint, program)
    return program
  }

  /** The account that receives: of a token, only the wallet's associated account counts as the wallet. */
  async function receiverOf({ asset, recipient, sender }: MonitoredTransaction): Promise<string> {
    if (asset === SOLANA_NATIVE) return recipient
    const program = await programOf(asset)
    if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return sender
    return associatedTokenAccount({ owner: recipient, mint: asset, program }).address
  }

  async function search(
    accounts: ReadonlyMap<string, readonly MonitoredTransaction[]>,
  ): Promise<{ found: Found[]; unread: MonitoredTransaction[] }> {
    const unread: MonitoredTransaction[] = []
    const found = await inParallel(
      [...accounts],
      PARALLEL_ACCOUNTS,
      async ([account, payments]) => {
        const from = Math.min(...payments.map(({ builtHeight }) => builtHeight ?? 0))
        const { signatures, complete } = await endpoints.request((connection) =>
          signaturesOf(connection, account, { from, firstPage: FIRST_PAGE }),
        )
        if (!complete) unread.push(...payments)
        return payments.flatMap(({ paymentId }) =>
          signatures
            .filter(({ memo }) => memo?.includes(paymentId))
            .map(({ signature }) => ({ signature, paymentIds: [paymentId] })),
        )
      },
    )
    return { found: found.flat(), unread }
  }

  return async (monitored) => {
    const received = await Promise.all(
      monitored.map(async (payment) => ({ payment, account: await receiverOf(payment) })),
    )
    const receivers = new Map(
      [...Map.groupBy(received, ({ account }) => account)].map(([account, of]) => [
        account,
        of.map(({ payment }) => payment),
      ]),
    )
    const senders = sendersOf(monitored)
    if (senders.size < receivers.size) return (await search(senders)).found
    const { found, unread } = await search(receivers)
    if (unread.length === 0) return found
    return [...found, ...(await search(sendersOf(unread))).found]
  }
}

type PageQuery = { limit: number; before?: string | undefined; knownTo?: number | undefined }

function readPage(
  connection: Connection,
  address: string,
  { limit, before, knownTo }: PageQuery,
): Promise<ConfirmedSignatureInfo[]> {
  return connection.getSignaturesForAddress(
    new PublicKey(address),
    {
      limit,
      ...(before !== undefined && { before }),
      ...(knownTo !== undefined && { minContextSlot: knownTo }),
    },
    'confirmed',
  )
}

/**
 * Confirmed transactions that name an account, from a slot on, the newest first, at most `pages` of 1,000; told only by a node that knows the chain up to the
 * slot `knownTo`. `complete`: there are no older ones.
 */
export async function signaturesOf(
  connection: Connection,
  address: string,
  {
    from,
    knownTo,
    firstPage = PAGE,
    pages = MAX_PAGES,
  }: { from: number; knownTo?: number | undefined; firstPage?: number; pages?: number },
): Promise<{ signatures: ConfirmedSignatureInfo[]; complete: boolean }> {
  const signatures: ConfirmedSignatureInfo[] = []
  for (let page = 0; page < pages; page++) {
    const before = signatures.at(-1)?.signature
    const limit = page === 0 ? firstPage : PAGE
    const batch = await readPage(connection, address, { limit, before, knownTo })
    signatures.push(...batch.filter(({ slot }) => slot >= from))
    if (batch.length < limit || batch.some(({ slot }) => slot < from))
      return { signatures, complete: true }
  }
  return { signatures, complete: false }
}

type Named = Pick<ConfirmedSignatureInfo, 'signature' | 'slot'>

/**
 * All confirmed transactions that name an account, from a slot on, the newest first, however many: a call has one page. `whole`: only nodes that have the
 * whole range tell it. `least`: only nodes that know this slot.
 */
export async function listSignatures(
  endpoints: SolanaEndpoints,
  address: string,
  {
    from,
    knownTo,
    least = 0,
    whole,
  }: { from: number; knownTo?: number | undefined; least?: number | undefined; whole: boolean },
): Promise<Named[]> {
  const signatures: Named[] = []
  for (;;) {
    const last = signatures.at(-1)
    const batch = await endpoints.request(async (connection) => {
      if (from > 0 && (whole || last) && (await connection.getFirstAvailableBlock()) > from)
        throw new Error(`The node does not serve transactions since slot ${from}.`)
      // Another node may answer than for the page before: one that is behind tells of no transaction before one that it does not know.
      const slot = last?.slot ?? least
      if (slot > 0 && (await connection.getSlot('confirmed')) < slot)
        throw new Error(`The node does not know slot ${slot}.`)
      return readPage(connection, address, { limit: PAGE, before: last?.signature, knownTo })
    })
    for (const { signature, slot } of batch) if (slot >= from) signatures.push({ signature, slot })
    if (batch.length < PAGE || batch.some(({ slot }) => slot < from)) return signatures
  }
}

/**
 * True when the finalized chain is past the last block of a payment's blockhash, and a history that reaches from the payment's first slot to that block holds
 * neither what was signed for it, nor what was reported, nor a transaction of the sender that names it. Asked twice, and only nodes that show how far they
 * know the chain count: one that is behind, or has forgotten, answers the same as one that knows.
 */
export async function canNeverLand(
  endpoints: SolanaEndpoints,
  monitored: MonitoredTransaction,
): Promise<boolean> {
  return endpoints.prove((connection) => provesAbsence(connection, monitored))
}

async function provesAbsence(
  connection: Connection,
  monitored: MonitoredTransaction,
): Promise<boolean> {
  const { lastValidBlockHeight, reported, paymentId, sender, builtHeight } = monitored
  const { signed = [], taken = [] } = monitored
  if (lastValidBlockHeight === null) return false
  if ((await connection.getBlockHeight('finalized')) <= lastValidBlockHeight) return false
  // Height and slot of one block.
  const { absoluteSlot, blockHeight } = await connection.getEpochInfo('finalized')
  // A node without finalized states tells its newest slot here, and understands by "known to" something else: there it is asked without.
  const knownTo = absoluteSlot <= (await connection.getSlot('finalized')) ? absoluteSlot : undefined
  if ((blockHeight ?? 0) <= lastValidBlockHeight) return false
  if (builtHeight !== null && (await connection.getFirstAvailableBlock()) > builtHeight)
    return false

  const known = [...new Set(reported === null ? signed : [...signed, reported])]
  const { slot, statuses } = await readStatuses(connection, known)
  if (slot < absoluteSlot) return false
  // The wallet of a local payment may have tried before: what failed, finally, does not pay it.
  const isFinalFailure = (landed: { err: unknown; slot: number }) =>
    monitored.signed === undefined && landed.err !== null && landed.slot <= absoluteSlot
  for (const [index, signature] of known.entries()) {
    const status = statuses[index] ?? null
    if (status === null || isFinalFailure(status)) continue
    if (!(await isRefused(connection, signature))) return false
  }
  const { signatures, complete } = await signaturesOf(connection, sender, {
    from: builtHeight ?? 0,
    knownTo,
    pages: MAX_PROOF_PAGES,
  })
  if (!complete) return false
  const named = signatures.filter(
    (each) =>
      each.memo?.includes(paymentId) && !taken.includes(each.signature) && !isFinalFailure(each),
  )
  // Anyone can write an id into a memo and name the sender beside it.
  for (const { signature } of named)
    if (await isPaidBy(connection, signature, monitored)) return false
  return true
}
