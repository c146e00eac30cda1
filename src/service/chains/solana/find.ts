import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { PublicKey, type ConfirmedSignatureInfo, type Connection } from '@solana/web3.js'
import { messageBytes } from '#chains/solana/landed.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import { isPaymentId, namedPaymentIds } from '#contract/payment.ts'
import type { Found, MonitoredTransaction, SearchFailure } from '../chain.ts'
import { inParallel } from '../endpoints.ts'
import { BackgroundReads } from '../recent.ts'
import type { SolanaEndpoints } from './client.ts'
import { isPaidBy, isRefused, readStatuses, readTransaction } from './observe.ts'

const PARALLEL_ACCOUNTS = 4
/** After so many accounts in a row that no endpoint could list, the others are not asked: the chain is down. */
const MAX_FAILED_IN_A_ROW = 8
const PAGE = 1_000
/** Most searches reach back a minute: the first page is short, so that a busy payee's answer is small. */
const FIRST_PAGE = 100
/** An account with more transactions than this since a payment was built is read no further back. */
const MAX_PAGES = 5
/** A proof reads further: a list that ends before it reaches the payment proves nothing. */
const MAX_PROOF_PAGES = 20
/** More transactions than this that may be a payment are not read while others wait. */
const MAX_READ_AT_ONCE = 8
/** What is not proven now is rarely proven a moment later: when it is read again, in milliseconds. */
const UNPROVEN_MS = 60_000
const MAX_UNPROVEN = 10_000

type Parties = Pick<MonitoredTransaction, 'asset' | 'recipient' | 'sender'>
type ReceiverOf = (payment: Omit<Parties, 'sender'>) => Promise<string | undefined>

/** Finds the account that receives a payment: of a token, only the wallet's associated account counts as the wallet. Undefined where no program of tokens is known for it. */
export function openReceivers(endpoints: SolanaEndpoints): ReceiverOf {
  const programs = new Map<string, string>()

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

  return async ({ asset, recipient }) => {
    if (asset === SOLANA_NATIVE) return recipient
    const program = await programOf(asset)
    if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return undefined
    return associatedTokenAccount({ owner: recipient, mint: asset, program }).address
  }
}

/**
 * Searches for payments by memo, among the transactions of their payees: many drafts pay few
 * payees, and anybody may name any payer in a draft. Where there are fewer payers than payees, and
 * for a payee with too many transactions to be read back far enough, among those of the payers.
 * Anyone can put an id into a memo and name an account beside it, so that one payment may be found
 * several times: each is only a candidate.
 */
export function openSearch(
  endpoints: SolanaEndpoints,
  receiverOf: ReceiverOf,
): (
  monitored: readonly MonitoredTransaction[],
) => Promise<{ found: Found[]; failed: readonly SearchFailure[] }> {
  const sendersOf = (payments: readonly MonitoredTransaction[]) =>
    Map.groupBy(payments, ({ sender }) => sender)

  async function search(
    accounts: ReadonlyMap<string, readonly MonitoredTransaction[]>,
    failures: SearchFailures,
  ): Promise<{ found: Found[]; unread: MonitoredTransaction[] }> {
    const unread: MonitoredTransaction[] = []
    const found = await inParallel([...accounts], PARALLEL_ACCOUNTS, ([account, payments]) =>
      failures.orNone(payments, async () => {
        const from = Math.min(...payments.map(({ builtHeight }) => builtHeight ?? 0))
        const { signatures, complete } = await endpoints.request((connection) =>
          signaturesOf(connection, account, { from, firstPage: FIRST_PAGE }),
        )
        if (!complete) unread.push(...payments)
        const named = Map.groupBy(
          signatures.flatMap(({ memo, signature }) =>
            [...namedPaymentIds(memo ?? '')].map((paymentId) => ({ paymentId, signature })),
          ),
          ({ paymentId }) => paymentId,
        )
        // A proof that is settled by its payee is searched for by the memo that its payer chose.
        const namedBy = (paymentId: string) =>
          isPaymentId(paymentId)
            ? (named.get(paymentId) ?? [])
            : signatures.filter(({ memo }) => memo?.includes(paymentId))
        return payments.flatMap(({ paymentId }) =>
          namedBy(paymentId).map(({ signature }) => ({
            signature,
            paymentIds: [paymentId],
          })),
        )
      }),
    )
    return { found: found.flat(), unread }
  }

  return async (monitored) => {
    const failures = new SearchFailures()
    const { failed } = failures
    const payees = Map.groupBy(monitored, ({ asset, recipient }) => `${asset} ${recipient}`)
    const received = (
      await inParallel([...payees.values()], PARALLEL_ACCOUNTS, (payments) =>
        failures.orNone(payments, async () => {
          const [first] = payments
          const account = first && (await receiverOf(first))
          return payments.map((payment) => ({ payment, account: account ?? payment.sender }))
        }),
      )
    ).flat()
    const receivers = new Map(
      [...Map.groupBy(received, ({ account }) => account)].map(([account, of]) => [
        account,
        of.map(({ payment }) => payment),
      ]),
    )
    const senders = sendersOf(received.map(({ payment }) => payment))
    if (senders.size < receivers.size)
      return { found: (await search(senders, failures)).found, failed }
    const { found, unread } = await search(receivers, failures)
    if (unread.length === 0) return { found, failed }
    return { found: [...found, ...(await search(sendersOf(unread), failures)).found], failed }
  }
}

/** The payments that a search could not look for. What goes wrong with one account concerns its payments alone. */
class SearchFailures {
  readonly failed: SearchFailure[] = []
  #inARow = 0

  /** What is found for these payments; nothing where that fails. */
  async orNone<T>(
    payments: readonly MonitoredTransaction[],
    work: () => Promise<T[]>,
  ): Promise<T[]> {
    const paymentIds = payments.map(({ paymentId }) => paymentId)
    const last = this.failed.at(-1)
    if (last && this.#inARow >= MAX_FAILED_IN_A_ROW) {
      this.failed.push({ paymentIds, error: last.error })
      return []
    }
    try {
      const found = await work()
      this.#inARow = 0
      return found
    } catch (error) {
      this.#inARow++
      this.failed.push({
        paymentIds,
        error: error instanceof Error ? error : new Error('', { cause: error }),
      })
      return []
    }
  }
}

/** Searches the transactions of a payee for memos that name payments, whatever their order; those that failed moved nothing. */
export function openNamedSearch(
  endpoints: SolanaEndpoints,
  receiverOf: ReceiverOf,
): (payee: Omit<Parties, 'sender'>, since: number) => Promise<Found[]> {
  return async (payee, since) => {
    const account = await receiverOf(payee)
    if (account === undefined) return []
    const { signatures } = await endpoints.request((connection) =>
      signaturesOf(connection, account, { from: since, firstPage: FIRST_PAGE }),
    )
    return signatures.flatMap(({ signature, memo, err }) => {
      const paymentIds = err === null ? [...namedPaymentIds(memo ?? '')] : []
      return paymentIds.length === 0 ? [] : [{ signature, paymentIds }]
    })
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

type Absence = 'proven' | 'open' | 'unproven' | 'unread'

/**
 * True when the finalized chain is past the last block of a payment's blockhash, and a history that reaches from the payment's first slot to that block holds
 * neither what was signed for it, nor what was reported, nor a transaction of the sender that names it. Asked twice, and only nodes that show how far they
 * know the chain count: one that is behind, or has forgotten, answers the same as one that knows.
 * What one page of the sender's transactions does not prove is read in the background, up to 20,000 of the sender or else of the receiver, as a payment names
 * both: false until then. What is not proven is read again after a minute.
 */
export function openAbsence(
  endpoints: SolanaEndpoints,
  receiverOf: ReceiverOf,
): { canNeverLand: (monitored: MonitoredTransaction) => Promise<boolean>; close: () => void } {
  // What was proven, or null.
  const proofs = new BackgroundReads<string | null>(UNPROVEN_MS, MAX_UNPROVEN)

  async function readAbsence(
    monitored: MonitoredTransaction,
    list: { account: string; pages: number },
  ): Promise<Absence> {
    const answers = await endpoints.requestTwo(
      (connection) => absenceAt(connection, monitored, list),
      (answer) => answer !== 'proven',
    )
    return answers.find((answer) => answer !== 'proven') ?? 'proven'
  }

  async function readOn(monitored: MonitoredTransaction): Promise<boolean> {
    const { sender: account } = monitored
    const bySender = await readAbsence(monitored, { account, pages: MAX_PROOF_PAGES }).catch(
      (): Absence => 'unread',
    )
    if (bySender !== 'unread') return bySender === 'proven'
    const receiver = await receiverOf(monitored)
    if (receiver === undefined) return false
    return (
      (await readAbsence(monitored, { account: receiver, pages: MAX_PROOF_PAGES })) === 'proven'
    )
  }

  return {
    canNeverLand: async (monitored) => {
      const { paymentId, sender, recipient, asset, builtHeight, lastValidBlockHeight } = monitored
      const { reported, signed, taken } = monitored
      const payment = [paymentId, sender, recipient, asset, builtHeight]
      const proof = JSON.stringify([payment, lastValidBlockHeight, reported, signed, taken])
      // A payer can report one name after another: the payment is read as rarely.
      const key = JSON.stringify([payment, signed === undefined, taken === undefined])
      const last = proofs.last(key)
      if (last?.value === proof) return true
      if (last && typeof last.value !== 'string') return false
      const absence = await readAbsence(monitored, { account: sender, pages: 1 })
      if (absence === 'unproven') proofs.set(key, null)
      // Drafts of visitors do not hold up what the service has signed.
      if (absence === 'unread')
        proofs.start(key, signed === undefined ? 'local' : 'signed', async () =>
          (await readOn(monitored)) ? proof : null,
        )
      return absence === 'proven'
    },
    close: () => proofs.close(),
  }
}

/** `open`: time alone may change it. `unread`: the list does not reach back far enough. */
async function absenceAt(
  connection: Connection,
  monitored: MonitoredTransaction,
  { account, pages }: { account: string; pages: number },
): Promise<Absence> {
  const { lastValidBlockHeight, reported, paymentId, builtHeight } = monitored
  const { signed = [], taken = [] } = monitored
  if (lastValidBlockHeight === null) return 'open'
  if ((await connection.getBlockHeight('finalized')) <= lastValidBlockHeight) return 'open'
  // Height and slot of one block.
  const { absoluteSlot, blockHeight } = await connection.getEpochInfo('finalized')
  // A node without finalized states tells its newest slot here, and understands by "known to" something else: there it is asked without.
  const knownTo = absoluteSlot <= (await connection.getSlot('finalized')) ? absoluteSlot : undefined
  if ((blockHeight ?? 0) <= lastValidBlockHeight) return 'open'
  if (builtHeight !== null && (await connection.getFirstAvailableBlock()) > builtHeight)
    return 'unproven'

  const known = [...new Set(reported === null ? signed : [...signed, reported])]
  const { slot, statuses } = await readStatuses(connection, known)
  if (slot < absoluteSlot) return 'open'
  // The wallet of a local payment may have tried before: what failed, finally, does not pay it.
  const isFinalFailure = (landed: { err: unknown; slot: number }) =>
    monitored.signed === undefined && landed.err !== null && landed.slot <= absoluteSlot
  for (const [index, signature] of known.entries()) {
    const status = statuses[index] ?? null
    if (status === null || isFinalFailure(status)) continue
    if (!(await isRefused(connection, signature))) return 'open'
  }
  const { signatures, complete } = await signaturesOf(connection, account, {
    from: builtHeight ?? 0,
    knownTo,
    pages,
  })
  if (!complete) return 'unread'
  const named = signatures.filter(
    (each) =>
      each.memo?.includes(paymentId) && !taken.includes(each.signature) && !isFinalFailure(each),
  )
  if (pages === 1 && named.length > MAX_READ_AT_ONCE) return 'unread'
  // Anyone can write an id into a memo and name the sender beside it.
  let isOpen = false
  for (const { signature, err } of named) {
    if (!(await isPaidBy(connection, signature, monitored))) continue
    // What the wallet tried and failed is no payment a moment later, when it is final.
    if (monitored.signed !== undefined || err === null) return 'unproven'
    isOpen = true
  }
  return isOpen ? 'open' : 'proven'
}

type MessageQuery = Parties & { builtHeight: number | null; messageHash: string }

/**
 * Looks through what its sender has done since, or else its receiver, for the transaction with this message that succeeded; null: there is none. The cluster runs
 * one message once. Long lists are read in the background: undefined until then, and while neither list reaches back far enough.
 */
export function openMessageSearch(
  endpoints: SolanaEndpoints,
  receiverOf: ReceiverOf,
): { find: (query: MessageQuery) => Promise<string | null | undefined>; close: () => void } {
  const results = new BackgroundReads<string | null | undefined>(UNPROVEN_MS, MAX_UNPROVEN)

  async function succeededSince(account: string, from: number, pages: number) {
    const { signatures, complete } = await endpoints.request((connection) =>
      signaturesOf(connection, account, { from, pages }),
    )
    return complete ? signatures.filter(({ err }) => err === null) : undefined
  }

  async function findAmong(
    signatures: readonly { signature: string }[],
    messageHash: string,
  ): Promise<string | null> {
    for (const { signature } of signatures) {
      const landed = await endpoints.request((connection) => readTransaction(connection, signature))
      // Nobody is asked to sign a message of a version that this program does not read.
      if (landed === 'unreadable' || !landed) continue
      if (bytesToHex(sha256(messageBytes(landed.transaction.message))) === messageHash)
        return signature
    }
    return null
  }

  return {
    find: async (query) => {
      const { sender, builtHeight, messageHash } = query
      const last = results.last(messageHash)
      if (last) return last.value
      const from = builtHeight ?? 0
      const page = await succeededSince(sender, from, 1)
      if (page && page.length <= MAX_READ_AT_ONCE) return findAmong(page, messageHash)
      results.start(messageHash, 'messages', async () => {
        const whole =
          page ??
          (await succeededSince(sender, from, MAX_PROOF_PAGES)) ??
          (await succeededSince((await receiverOf(query)) ?? sender, from, MAX_PROOF_PAGES))
        return whole && findAmong(whole, messageHash)
      })
      return undefined
    },
    close: () => results.close(),
  }
}
