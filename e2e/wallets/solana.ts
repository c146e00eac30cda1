import type { BrowserContext, Page } from '@playwright/test'
import { ed25519 } from '@noble/curves/ed25519.js'
import {
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import * as v from 'valibot'
import { decide, toReply, WalletError, type WalletReply, type WalletApproval } from './control.ts'
import { registerSolanaWallet } from './solana-page.ts'

const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1" fill="#6e56cf"/></svg>')}`
const BINDING = 'testSolanaWallet'
export const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95')

const SignTransaction = v.object({
  address: v.string(),
  chain: v.nullable(v.string()),
  transaction: v.string(),
})
const SignMessage = v.object({ address: v.string(), message: v.string() })
const Connect = v.object({ silent: v.boolean() })

/**
 * A wallet with real keys that behaves like Phantom: signs without sending, may add its own guards
 * to what it signs, and reconnects silently only if it was connected before.
 */
export class SolanaTestWallet {
  connecting: WalletApproval = 'approve'
  signing: WalletApproval = 'approve'
  /** Changes what is signed without telling the page. */
  mutate: ((message: TransactionMessage) => TransactionMessage) | undefined
  /** Adds the balance guard that Phantom adds to what it signs. */
  addGuards = false
  /** Runs after the wallet signed and before the page gets the bytes. */
  afterSigning: ((transaction: VersionedTransaction) => Promise<void>) | undefined
  /** Runs when the approval window opens. */
  onApproval: (() => Promise<void>) | undefined
  /** How often it opened a window to connect; a silent request opens none. */
  windows = 0
  /** The chain the page named at each signature. */
  readonly chains: (string | null)[] = []
  readonly requests: string[] = []
  readonly signed: VersionedTransaction[] = []
  readonly #accounts: readonly Keypair[]
  readonly #pages = new Set<Page>()
  #selected = 0
  #connected = false

  constructor(options: { secretKeys: readonly Uint8Array[] }) {
    this.#accounts = options.secretKeys.map((key) => Keypair.fromSecretKey(key))
  }

  get address(): string {
    return this.#account.publicKey.toBase58()
  }

  get #account(): Keypair {
    const account = this.#accounts[this.#selected]
    if (!account) throw new Error('The wallet has no account there.')
    return account
  }

  async install(context: BrowserContext): Promise<void> {
    await context.exposeBinding(BINDING, ({ page }, method: string, params: unknown) => {
      this.#pages.add(page)
      this.requests.push(method)
      return this.#answer(method, params)
    })
    await context.addInitScript(registerSolanaWallet, {
      binding: BINDING,
      name: 'Phantom',
      icon: ICON,
    })
  }

  /** It forgets the page, as when it is locked; the page is not told. */
  lock(): void {
    this.#connected = false
  }

  /**
   * The person selects another account in the wallet; the page learns of it only when `tell` is
   * set.
   */
  async switchAccount(index: number, tell = true): Promise<void> {
    this.#selected = index
    if (!tell) return
    for (const page of this.#pages) {
      if (page.isClosed()) continue
      await page.evaluate(
        ([name, list]) =>
          (window as unknown as Record<string, (list: unknown) => void>)[`${name}Accounts`]?.(list),
        [BINDING, this.#list()] as const,
      )
    }
  }

  #list(): { address: string; publicKey: string }[] {
    return [
      {
        address: this.address,
        publicKey: Buffer.from(this.#account.publicKey.toBytes()).toString('base64'),
      },
    ]
  }

  #answer(method: string, params: unknown): Promise<WalletReply> {
    return toReply(async () => {
      if (method === 'connect') return this.#connect(v.parse(Connect, params).silent)
      if (method === 'signTransaction')
        return this.#signTransaction(v.parse(SignTransaction, params))
      if (method === 'signMessage') return this.#signMessage(v.parse(SignMessage, params))
      if (method === 'disconnect') this.#connected = false
      return null
    })
  }

  async #connect(silent: boolean): Promise<unknown> {
    if (!this.#connected && silent) return []
    if (!this.#connected) {
      this.windows++
      await decide(this.connecting)
    }
    this.#connected = true
    return this.#list()
  }

  async #signTransaction({
    address,
    chain,
    transaction,
  }: v.InferOutput<typeof SignTransaction>): Promise<string> {
    this.#requireAccount(address)
    this.chains.push(chain)
    await this.onApproval?.()
    await decide(this.signing)
    const asked = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    const changed = this.#change(asked)
    changed.sign([this.#account])
    this.signed.push(changed)
    await this.afterSigning?.(changed)
    return Buffer.from(changed.serialize()).toString('base64')
  }

  /**
   * What this wallet makes of a transaction; the very same bytes unless the test says otherwise.
   */
  #change(asked: VersionedTransaction): VersionedTransaction {
    if (!this.mutate && !this.addGuards) return asked
    let message = TransactionMessage.decompile(asked.message)
    message = this.mutate?.(message) ?? message
    if (this.addGuards) message.instructions.push(balanceGuard(message.payerKey))
    return new VersionedTransaction(message.compileToV0Message())
  }

  async #signMessage({ address, message }: v.InferOutput<typeof SignMessage>): Promise<string> {
    this.#requireAccount(address)
    await decide(this.signing)
    const signature = ed25519.sign(
      Buffer.from(message, 'base64'),
      this.#account.secretKey.slice(0, 32),
    )
    return Buffer.from(signature).toString('base64')
  }

  #requireAccount(address: string): void {
    if (!this.#connected || address !== this.address)
      throw new WalletError(4100, 'The requested account has not been authorized by the user.')
  }
}

/**
 * Lighthouse `AssertAccountInfo`: the payer keeps at least some lamports. Discriminator 5, log
 * level 0, assertion 0 (lamports), value, operator 4 (at least).
 */
function balanceGuard(payer: PublicKey): TransactionInstruction {
  const data = Buffer.alloc(12)
  data.writeUInt8(5, 0)
  data.writeUInt8(0, 1)
  data.writeUInt8(0, 2)
  data.writeBigUInt64LE(1n, 3)
  data.writeUInt8(4, 11)
  return new TransactionInstruction({
    programId: LIGHTHOUSE,
    keys: [{ pubkey: payer, isSigner: false, isWritable: false }],
    data,
  })
}
