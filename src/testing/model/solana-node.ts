import { sha256 } from '@noble/hashes/sha2.js'
import { SystemProgram, VersionedTransaction } from '@solana/web3.js'
import bs58 from 'bs58'
import { SOLANA_DEVNET } from '#contract/network.ts'
import { ModelRpcError, type ModelNode, type NodeView, type SignedAttempt } from './evm-node.ts'

/** A Solana cluster behind JSON-RPC, in memory: every state can be copied. A slot is a block; what is broadcast waits until a slot is made. */

type Sent = { signature: string; sender: string; validTo: number; raw: string }
type Landed = Sent & { slot: number }

const START = 1_000
const VALID_FOR = 150
const FINAL_AFTER = 3
const BALANCE = 1_000_000_000_000
const RENT = 890_880
const FEE = 5_000

export class ModelSolanaNode implements ModelNode {
  readonly network = SOLANA_DEVNET
  #tip = START
  #landed: Landed[] = []
  #pool: Sent[] = []
  #received = new Set<string>()

  copy(): ModelSolanaNode {
    const copy = new ModelSolanaNode()
    copy.#tip = this.#tip
    copy.#landed = [...this.#landed]
    copy.#pool = [...this.#pool]
    copy.#received = new Set(this.#received)
    return copy
  }

  get #finalized(): number {
    return Math.max(START - FINAL_AFTER, this.#tip - FINAL_AFTER)
  }

  describe(): unknown {
    const landed = this.#landed.map(({ signature, slot }) => [signature, slot])
    return [this.#tip, landed, this.#pool.map(({ signature }) => signature)]
  }

  landed(): string[] {
    return this.#landed.map(({ signature }) => signature)
  }

  namesOf(sender: string): string[] {
    return [...this.#received].flatMap((raw) => {
      const sent = read(raw)
      return sent.sender === sender ? [sent.signature] : []
    })
  }

  nameOf(parameters: readonly unknown[]): string {
    const raw = String(parameters[0])
    this.#received.add(raw)
    return read(raw).signature
  }

  canLand({ signature, lastValidBlockHeight }: SignedAttempt): boolean {
    return (
      this.#landed.some((each) => each.signature === signature) ||
      (lastValidBlockHeight !== null && this.#finalized <= lastValidBlockHeight)
    )
  }

  placeOf({ signature }: SignedAttempt): string {
    return signature
  }

  moves(): string[] {
    return ['mine', 'empty', 'finalize', 'reorg', 'drop', 'expire']
  }

  move(name: string): void {
    switch (name) {
      case 'mine':
        this.#tip++
        this.#landed.push(
          ...this.#pool
            .filter(({ validTo }) => this.#tip <= validTo)
            .map((sent) => ({ ...sent, slot: this.#tip })),
        )
        this.#pool = []
        return
      case 'empty':
        this.#tip++
        return
      case 'finalize':
        this.move('mine')
        this.#tip += FINAL_AFTER
        return
      case 'expire':
        this.#pool = []
        this.#tip += VALID_FOR + FINAL_AFTER + 1
        return
      case 'reorg': {
        const lost = this.#landed.filter(({ slot }) => slot > this.#finalized)
        this.#landed = this.#landed.filter(({ slot }) => slot <= this.#finalized)
        this.#pool = [...this.#pool, ...lost]
        return
      }
      case 'drop':
        this.#pool = []
        return
      default:
        throw new Error(`The cluster has no ${name}.`)
    }
  }

  calm(): void {
    this.move('finalize')
    this.#tip += VALID_FOR / 2
  }

  async answer(method: string, parameters: readonly unknown[], view: NodeView): Promise<unknown> {
    const tip = view === 'stale' ? Math.max(START, this.#tip - 2) : this.#tip
    const finalized = Math.max(START - FINAL_AFTER, tip - FINAL_AFTER)
    const landed = view === 'forgets' ? [] : this.#landed.filter(({ slot }) => slot <= tip)
    const options = Object(parameters[1] ?? parameters[0] ?? {})
    const final = options.commitment === 'finalized'
    const at = final ? finalized : tip
    const known = Number(options.minContextSlot ?? 0)
    if (known > at) throw new ModelRpcError('Minimum context slot has not been reached')
    const inContext = (value: unknown) => ({ context: { slot: at }, value })
    switch (method) {
      case 'getSlot':
      case 'getBlockHeight':
        return at
      case 'getEpochInfo':
        return { epoch: 1, slotIndex: at, slotsInEpoch: 432_000, absoluteSlot: at, blockHeight: at }
      case 'getFirstAvailableBlock':
        return 0
      case 'getMinimumBalanceForRentExemption':
        return RENT
      case 'getRecentPrioritizationFees':
        return []
      case 'getBalance':
        return inContext(BALANCE)
      case 'getMultipleAccounts':
        return inContext([account(), account()])
      case 'getAccountInfo':
        return inContext(account())
      case 'getLatestBlockhash':
        return inContext({
          blockhash: bs58.encode(sha256(new TextEncoder().encode(`slot ${tip}`))),
          lastValidBlockHeight: tip + VALID_FOR,
        })
      case 'simulateTransaction':
        return inContext({ err: null, logs: [], accounts: null, unitsConsumed: 1_000 })
      case 'getSignatureStatuses':
        return inContext(
          (parameters[0] as string[]).map((signature) => {
            const found = landed.find((each) => each.signature === signature)
            if (!found) return null
            const status = found.slot <= finalized ? 'finalized' : 'confirmed'
            return { slot: found.slot, confirmations: null, err: null, confirmationStatus: status }
          }),
        )
      case 'getSignaturesForAddress':
        return landed
          .filter(({ sender, slot }) => sender === parameters[0] && slot <= at)
          .toReversed()
          .map(({ signature, slot, raw }) => ({
            signature,
            slot,
            err: null,
            memo: memoOf(raw),
            blockTime: null,
          }))
      case 'getTransaction': {
        const found = landed.find(({ signature }) => signature === parameters[0])
        return found ? format(found) : null
      }
      case 'sendTransaction': {
        const raw = String(parameters[0])
        this.#received.add(raw)
        const sent = { ...read(raw), raw }
        // The blockhash names its slot; what is too old is dropped without a word.
        if (
          !this.#pool.some(({ signature }) => signature === sent.signature) &&
          !this.#landed.some(({ signature }) => signature === sent.signature)
        )
          this.#pool.push(sent)
        return sent.signature
      }
      default:
        throw new ModelRpcError(`the method ${method} does not exist`)
    }
  }
}

function account() {
  return {
    lamports: BALANCE,
    owner: SystemProgram.programId.toBase58(),
    data: ['', 'base64'],
    executable: false,
    rentEpoch: 0,
    space: 0,
  }
}

const readings = new Map<string, Omit<Sent, 'raw'>>()
const slots = new Map<string, number>()

/** The last block of a transaction follows from its blockhash, which names a slot. */
function read(raw: string): Omit<Sent, 'raw'> {
  const known = readings.get(raw)
  if (known) return known
  const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(raw, 'base64'))
  const sent = {
    signature: bs58.encode(signatures[0] ?? new Uint8Array()),
    sender: message.staticAccountKeys[0]?.toBase58() ?? '',
    validTo: slotOf(message.recentBlockhash) + VALID_FOR,
  }
  readings.set(raw, sent)
  return sent
}

const MOST_SLOTS = 20_000

function slotOf(blockhash: string): number {
  for (let slot = START + slots.size; !slots.has(blockhash) && slots.size < MOST_SLOTS; slot++)
    slots.set(bs58.encode(sha256(new TextEncoder().encode(`slot ${slot}`))), slot)
  const slot = slots.get(blockhash)
  if (slot === undefined) throw new Error('The model knows no slot of this blockhash.')
  return slot
}

/** As a node shows it: its length, then its text. */
function memoOf(raw: string): string | null {
  const { message } = VersionedTransaction.deserialize(Buffer.from(raw, 'base64'))
  const memo = message.compiledInstructions.find(({ programIdIndex }) =>
    message.staticAccountKeys[programIdIndex]?.toBase58().startsWith('Memo'),
  )
  if (!memo) return null
  return `[${memo.data.length}] ${Buffer.from(memo.data).toString()}`
}

function format({ slot, raw, signature }: Landed) {
  const { message } = VersionedTransaction.deserialize(Buffer.from(raw, 'base64'))
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions } = message
  const balances = staticAccountKeys.map(() => RENT)
  return {
    slot,
    blockTime: 1_700_000_000,
    version: 0,
    meta: {
      err: null,
      status: { Ok: null },
      fee: FEE,
      preBalances: balances.with(0, BALANCE),
      postBalances: balances.with(0, BALANCE - FEE),
      innerInstructions: [],
      logMessages: [],
      preTokenBalances: [],
      postTokenBalances: [],
      loadedAddresses: { writable: [], readonly: [] },
    },
    transaction: {
      signatures: [signature],
      message: {
        accountKeys: staticAccountKeys.map((key) => key.toBase58()),
        header,
        recentBlockhash,
        addressTableLookups: [],
        instructions: compiledInstructions.map(({ accountKeyIndexes, data, programIdIndex }) => ({
          accounts: accountKeyIndexes,
          data: bs58.encode(data),
          programIdIndex,
        })),
      },
    },
  }
}
