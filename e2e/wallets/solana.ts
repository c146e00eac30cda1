import type { BrowserContext } from '@playwright/test'
import {
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import {
  registerSolana,
  secretKeyToAccount,
  solanaHandlers,
  type SolanaAccount,
  type SolanaApprovalRequest,
  type SolanaOwner,
} from '#devnet/demo-wallet/solana-wallet.ts'
import { StoryWallet } from './story-wallet.ts'

const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1" fill="#6e56cf"/></svg>')}`
const CHAINS = ['solana:mainnet', 'solana:devnet', 'solana:testnet', 'solana:localnet']
export const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95')

/**
 * A wallet with real keys that behaves like Phantom: signs without sending, may add its own guards
 * to what it signs, and reconnects silently only if it was connected before.
 */
export class SolanaTestWallet extends StoryWallet<SolanaAccount> implements SolanaOwner {
  /** Changes what is signed without telling the page. */
  mutate: ((message: TransactionMessage) => TransactionMessage) | undefined
  /** Adds the balance guard that Phantom adds to what it signs. */
  addGuards = false
  /** Runs after the wallet signed and before the page gets the bytes. */
  afterSigning: ((transaction: VersionedTransaction) => Promise<void>) | undefined
  /** How often it opened a window to connect; a silent request opens none. */
  windows = 0
  /** The chain the page named at each signature. */
  readonly chains: (string | undefined)[] = []
  readonly signed: VersionedTransaction[] = []
  readonly #handlers = solanaHandlers(this)

  constructor({ secretKeys }: { secretKeys: readonly Uint8Array[] }) {
    super('testSolanaWallet', secretKeys.map(secretKeyToAccount))
  }

  async install(context: BrowserContext): Promise<void> {
    const registration = JSON.stringify({ name: 'Phantom', icon: ICON, chains: CHAINS })
    const handlers = Object.keys(this.#handlers).map(
      (method) => `${method}: (input) => ask('${method}', input)`,
    )
    const script = `(${registerSolana})(${registration}, { ${handlers.join(', ')} })`
    await this.installScript(context, script)
  }

  /** It forgets the page, as when it is locked; the page is not told. */
  lock(): void {
    this.disconnect()
  }

  /**
   * The person selects another account in the wallet; the page learns of it only when `tell` is
   * set.
   */
  async switchAccount(index: number, tell = true): Promise<void> {
    this.select(index)
    const { address, publicKey } = this.selected
    if (tell) await this.tell([{ address, publicKey }])
  }

  override async connect(): Promise<SolanaAccount> {
    this.windows++
    return super.connect()
  }

  override async approve(request: SolanaApprovalRequest): Promise<void> {
    if (request.kind === 'transaction') this.chains.push(request.chain)
    await super.approve(request)
  }

  /** The very same bytes unless the test says otherwise. */
  amend(transaction: Uint8Array): Uint8Array {
    if (!this.mutate && !this.addGuards) return transaction
    const asked = VersionedTransaction.deserialize(transaction)
    let message = TransactionMessage.decompile(asked.message)
    message = this.mutate?.(message) ?? message
    if (this.addGuards) message.instructions.push(balanceGuard(message.payerKey))
    return new VersionedTransaction(message.compileToV0Message()).serialize()
  }

  async onSigned(bytes: Uint8Array): Promise<void> {
    const transaction = VersionedTransaction.deserialize(bytes)
    this.signed.push(transaction)
    await this.afterSigning?.(transaction)
  }

  protected async answer(method: string, params: unknown): Promise<unknown> {
    const handler: unknown = Reflect.get(this.#handlers, method)
    if (typeof handler !== 'function') throw new Error(`This wallet does not know ${method}.`)
    return Reflect.apply(handler, undefined, [params])
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
