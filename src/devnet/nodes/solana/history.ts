import * as v from 'valibot'
import type { AccountState, SlotJournal, LandedTransaction, JournalLine } from './journal.ts'
import { mustRpc, type Surfnet } from './surfnet.ts'

/** A blockhash lives for 150 blocks: what has not landed well after that never will. */
const WATCH_SLOTS = 200

const Transaction = v.object({
  slot: v.number(),
  meta: v.looseObject({
    err: v.unknown(),
    preBalances: v.array(v.number()),
    postBalances: v.array(v.number()),
    loadedAddresses: v.optional(
      v.object({ readonly: v.array(v.string()), writable: v.array(v.string()) }),
    ),
  }),
})
const JsonMessage = v.object({
  transaction: v.object({ message: v.object({ accountKeys: v.array(v.string()) }) }),
})
const ParsedMessage = v.object({
  transaction: v.object({
    message: v.object({
      instructions: v.array(
        v.object({ program: v.optional(v.string()), parsed: v.optional(v.unknown()) }),
      ),
    }),
  }),
})
const Accounts = v.object({
  value: v.array(
    v.nullable(
      v.object({
        lamports: v.number(),
        owner: v.string(),
        executable: v.boolean(),
        data: v.tuple([v.string(), v.string()]),
      }),
    ),
  ),
})
const Statuses = v.object({ value: v.array(v.nullable(v.object({ slot: v.number() }))) })

/**
 * Every transaction that landed, of this run of the node and of earlier ones, with the accounts it touched.
 * The node forgets its history and its accounts when it ends; a cluster does not.
 */
export class SolanaHistory {
  readonly #surfnet: Surfnet
  readonly #journal: SlotJournal
  readonly #watchMs: number
  readonly #bySignature = new Map<string, LandedTransaction>()
  /** Oldest first. */
  readonly #byAddress = new Map<string, LandedTransaction[]>()
  readonly #watched = new Map<string, number>()
  readonly #recording = new Map<string, Promise<LandedTransaction | undefined>>()

  constructor(surfnet: Surfnet, journal: SlotJournal, slotTimeMs: number) {
    this.#surfnet = surfnet
    this.#journal = journal
    this.#watchMs = WATCH_SLOTS * slotTimeMs
  }

  /** Takes what earlier runs left, and puts the accounts back into the node. */
  async restore(lines: readonly JournalLine[]): Promise<void> {
    const accounts = new Map<string, AccountState>()
    for (const line of lines) {
      if (line.landed) this.#keep(line.landed)
      for (const [address, state] of Object.entries(line.accounts)) {
        if (state) accounts.set(address, state)
        else accounts.delete(address)
      }
    }
    for (const [address, state] of accounts)
      await mustRpc(this.#surfnet, 'surfnet_setAccount', [address, state])
  }

  /** A transaction was sent: it is recorded as soon as it lands. */
  watch(signature: string): void {
    this.#watched.set(signature, Date.now())
  }

  get watching(): boolean {
    return this.#watched.size > 0
  }

  /** Records what has landed of the watched transactions. */
  async catchUp(): Promise<void> {
    const signatures = [...this.#watched.keys()].slice(0, 256)
    if (signatures.length === 0) return
    const { value } = v.parse(
      Statuses,
      await mustRpc(this.#surfnet, 'getSignatureStatuses', [signatures]),
    )
    for (const [index, signature] of signatures.entries()) {
      if (value[index]) await this.find(signature)
      else if (Date.now() - (this.#watched.get(signature) ?? 0) > this.#watchMs)
        this.#watched.delete(signature)
    }
  }

  has(signature: string): boolean {
    return this.#bySignature.has(signature)
  }

  /** A landed transaction, recorded now if it was not yet. */
  async find(signature: string): Promise<LandedTransaction | undefined> {
    const stored = this.#bySignature.get(signature)
    if (stored) return stored
    const running = this.#recording.get(signature)
    if (running) return running
    const recording = this.#record(signature).finally(() => this.#recording.delete(signature))
    this.#recording.set(signature, recording)
    return recording
  }

  /** Newest first. */
  ofAddress(address: string): LandedTransaction[] {
    return (this.#byAddress.get(address) ?? []).toReversed()
  }

  /** Keeps an account that was set by hand. */
  async keepAccount(address: string): Promise<void> {
    await this.#journal.append({ accounts: await this.#accounts([address]) })
  }

  async #record(signature: string): Promise<LandedTransaction | undefined> {
    const readAs = (encoding: string) =>
      mustRpc(this.#surfnet, 'getTransaction', [
        signature,
        { encoding, commitment: 'processed', maxSupportedTransactionVersion: 1 },
      ])
    const json = await readAs('json')
    if (json === null) return undefined
    const blockTime = Math.floor(Date.now() / 1000)
    const { slot, meta } = v.parse(Transaction, json)
    const { accountKeys } = v.parse(JsonMessage, json).transaction.message
    const addresses = [
      ...new Set([
        ...accountKeys,
        ...(meta.loadedAddresses?.writable ?? []),
        ...(meta.loadedAddresses?.readonly ?? []),
      ]),
    ]
    const [jsonParsed, base64] = [await readAs('jsonParsed'), await readAs('base64')]
    const landed: LandedTransaction = {
      signature,
      slot,
      blockTime,
      err: meta.err,
      memo: memoOf(jsonParsed),
      addresses,
      json: corrected(json, blockTime),
      jsonParsed: corrected(jsonParsed, blockTime),
      base64: corrected(base64, blockTime),
    }
    await this.#journal.append({ landed, accounts: await this.#accounts(addresses) })
    this.#keep(landed)
    this.#watched.delete(signature)
    return landed
  }

  #keep(landed: LandedTransaction): void {
    this.#bySignature.set(landed.signature, landed)
    for (const address of landed.addresses) {
      const list = this.#byAddress.get(address)
      if (list) list.push(landed)
      else this.#byAddress.set(address, [landed])
    }
  }

  /** The state now of those that are not programs: the node brings its programs itself. */
  async #accounts(addresses: readonly string[]): Promise<Record<string, AccountState | null>> {
    const { value } = v.parse(
      Accounts,
      await mustRpc(this.#surfnet, 'getMultipleAccounts', [
        addresses,
        { encoding: 'base64', commitment: 'processed' },
      ]),
    )
    const states: Record<string, AccountState | null> = {}
    for (const [index, address] of addresses.entries()) {
      const account = value[index]
      if (account?.executable || account?.owner.startsWith('Sysvar')) continue
      states[address] = account
        ? {
            lamports: account.lamports,
            owner: account.owner,
            executable: false,
            data: Buffer.from(account.data[0], 'base64').toString('hex'),
          }
        : null
    }
    return states
  }
}

/**
 * The node's answer as a cluster would give it: its `blockTime` is a thousand times too small, and its `fee` lacks the
 * priority fee. What all accounts together have lost is the fee exactly.
 */
function corrected(answer: unknown, blockTime: number): unknown {
  const transaction = v.parse(v.looseObject(Transaction.entries), answer)
  const sum = (balances: readonly number[]) =>
    balances.reduce((total, balance) => total + balance, 0)
  const fee = sum(transaction.meta.preBalances) - sum(transaction.meta.postBalances)
  return { ...transaction, blockTime, meta: { ...transaction.meta, fee } }
}

/** As `getSignaturesForAddress` spells memos: `[length] text`, several joined. */
function memoOf(jsonParsed: unknown): string | null {
  const { instructions } = v.parse(ParsedMessage, jsonParsed).transaction.message
  const memos = instructions.flatMap(({ program, parsed }) =>
    program === 'spl-memo' && typeof parsed === 'string'
      ? [`[${Buffer.byteLength(parsed)}] ${parsed}`]
      : [],
  )
  return memos.length === 0 ? null : memos.join('; ')
}
