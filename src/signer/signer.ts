import { bytesToHex } from 'viem'
import { createHash, createHmac } from 'node:crypto'
import { EVM_NATIVE } from '#contract/address.ts'
import { ProblemError } from '#contract/problem.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { verifySignature } from '#chains/solana/signature.ts'
import { proofTypedData } from '#x402/txid.ts'
import { createPolicyReader, requireNotFrozen, requireWithin } from './policy.ts'
import {
  PROOF_TIMEOUT_S,
  type SealedKey,
  type SealedWallet,
  type SignerSignature,
  type Signer,
  type SignRequest,
} from './protocol.ts'
import { readTransaction, type Spending } from './read-transaction.ts'
import { seal, unseal, type KeyVault, type Owner, type Sealed } from './seal.ts'
import { addressOf, createSecret, signEvm, signSolana, signTypedData } from './signatures.ts'
import { SpendLog, type SignerClock } from './spend-log.ts'

export type SignerOptions = {
  /** Or what opens it, and makes its key when it is told to. */
  vault: KeyVault | VaultSource
  /** A folder of this signer alone, which exists. */
  folder: string
  policyFile?: string | undefined
} & Partial<SignerClock>

/** `place`: the file of its key, or its ARN. */
export type VaultSource = {
  place: string
  open: (make: boolean) => Promise<KeyVault | undefined>
}

/** How long an opened secret stays at hand for the signature it was opened for. */
const AT_HAND_MS = 60_000

/**
 * The signer itself: opens sealed secrets, decodes what it signs, and holds it against the operator's policy. It trusts its caller with nothing: any sealed
 * wallet and any bytes may come.
 * @throws SignerConfigError for a policy or a spend log that cannot be read
 */
export function createSigner({
  vault,
  folder,
  policyFile,
  now = Date.now,
  uptime = () => performance.now(),
}: SignerOptions): Signer {
  const readFiles = createPolicyReader(folder, policyFile)
  const log = new SpendLog(folder, { now, uptime })
  const atHand = new Map<string, Uint8Array>()
  const source: VaultSource =
    'open' in vault ? vault : { place: vault.keyId, open: async () => vault }
  let known: KeyVault | undefined
  readFiles()

  const openVault = async (make: boolean) => (known ??= await source.open(make))
  const keyVault = async (): Promise<KeyVault> => {
    const opened = await openVault(false)
    if (opened) return opened
    throw unavailable(
      'The signer has no vault key.',
      `VAULT_KEY_FILE: found no file at ${source.place}.`,
    )
  }

  const readPolicy = () => orUnavailable(readFiles, 'The signing policy cannot be read.')

  const drop = (key: string) => {
    atHand.get(key)?.fill(0)
    atHand.delete(key)
  }

  async function open(row: Owner & Sealed): Promise<void> {
    const key = nameOf(row)
    if (atHand.has(key)) return
    const secret = await unseal(await keyVault(), row, row)
    // Another call may have opened it meanwhile, and be about to read what a drop would overwrite.
    if (atHand.has(key)) return void secret.fill(0)
    atHand.set(key, secret)
    setTimeout(() => drop(key), AT_HAND_MS).unref()
  }

  async function withSecret<T>(row: Owner & Sealed, work: (secret: Uint8Array) => Promise<T>) {
    const opened = atHand.get(nameOf(row))
    // A copy: `slice` of a Buffer would share the memory that is overwritten below.
    const secret = opened ? Uint8Array.from(opened) : await unseal(await keyVault(), row, row)
    try {
      return await work(secret)
    } finally {
      secret.fill(0)
    }
  }

  return {
    async check() {
      readPolicy()
      await log.check().catch(refuseUnwritten)
    },
    async vaultKey({ make }) {
      return { keyId: (await openVault(make))?.keyId ?? null, place: source.place }
    },
    async seal({ id, accountId, family, secret = createSecret(family) }) {
      try {
        const owner = { id, accountId, family, address: addressOf(family, secret) }
        return { ...owner, ...(await seal(await keyVault(), owner, secret)) }
      } finally {
        secret.fill(0)
      }
    },
    async open(wallet) {
      requireNotFrozen(readPolicy().frozen, wallet.address)
      await open(wallet)
    },
    async sign({ wallet, transaction, proof }) {
      const spending = readTransaction(wallet, transaction)
      const requireAllowed = () => {
        const { policy, frozen } = readPolicy()
        requireNotFrozen(frozen, wallet.address)
        const outflowAtomic = log.outflow(wallet.address, spending)
        requireWithin(policy, wallet.address, { spending, outflowAtomic })
      }
      // What is refused opens no key.
      requireAllowed()
      return withSecret(wallet, async (secret) => {
        // Again, with no await until it is counted: two payments never share what is left.
        requireAllowed()
        await log.append(wallet.address, spending).catch(refuseUnwritten)
        return signTransaction({ wallet, transaction, proof }, { spending, secret })
      })
    },
    async sealKey({ id, accountId, secret }) {
      try {
        return {
          id,
          accountId,
          ...(await seal(await keyVault(), ownerOf({ id, accountId }), secret)),
        }
      } finally {
        secret.fill(0)
      }
    },
    async mac({ key, message }) {
      const row = { ...key, ...ownerOf(key) }
      await open(row)
      return withSecret(row, async (secret) =>
        createHmac('sha256', secret).update(message).digest(),
      )
    },
    async [Symbol.asyncDispose]() {
      for (const key of atHand.keys()) drop(key)
      await log.close()
    },
  }
}

const RETRY_AFTER_S = 30

/** What only the operator can correct: nothing is signed until then. */
function unavailable(message: string, cause: unknown): ProblemError {
  const operator = cause instanceof Error ? cause.message : String(cause)
  return new ProblemError(
    'SERVICE_UNAVAILABLE',
    { message: `${message} Nothing was signed.`, details: { operator }, retryAfter: RETRY_AFTER_S },
    { cause },
  )
}

function orUnavailable<T>(read: () => T, message: string): T {
  try {
    return read()
  } catch (error) {
    throw unavailable(message, error)
  }
}

function refuseUnwritten(error: unknown): never {
  throw unavailable('The signer cannot write what it signs to its disk.', error)
}

/** @throws Error when the signature is not of the wallet: its row holds another key, and nothing leaves */
function signTransaction(
  { wallet, transaction, proof }: SignRequest,
  { spending, secret }: { spending: Spending; secret: Uint8Array },
): SignerSignature {
  const evm = wallet.family === 'evm'
  const bytes = evm ? signEvm(transaction, secret) : signSolana(transaction, secret)
  const signature = evm ? hashOf(bytes, wallet.address) : firstOf(bytes, wallet.address)
  if (signature === null)
    throw new Error(`The key of ${wallet.address} did not sign the transaction completely.`)
  const proven = evm && proof !== undefined && spending.kind === 'payment'
  return {
    bytes,
    signature,
    proofSignature: proven ? signProof({ wallet, spending, proof, signature }, secret) : null,
  }
}

function hashOf(bytes: Uint8Array, address: string): string | null {
  const facts = decodeTransaction(bytes)
  return facts.ok && facts.sender === address ? facts.hash : null
}

function firstOf(bytes: Uint8Array, address: string): string | null {
  const facts = decodeSolana(bytes)
  const whole =
    facts.ok &&
    facts.feePayer === address &&
    facts.signers.every((signer, index) =>
      verifySignature(facts.signatures[index] ?? new Uint8Array(64), facts.message, signer),
    )
  return whole ? facts.signature : null
}

type Proving = {
  wallet: SealedWallet
  spending: Spending
  proof: NonNullable<SignRequest['proof']>
  signature: string
}

/** The payer's signature over the name of the very payment that was just signed: all but the resource is read from its bytes. */
function signProof({ wallet, spending, proof, signature }: Proving, secret: Uint8Array) {
  const { network, recipient, amountAtomic } = spending
  const terms = {
    network,
    from: wallet.address,
    payTo: recipient ?? '',
    asset: EVM_NATIVE,
    amountAtomic,
    maxTimeoutSeconds: PROOF_TIMEOUT_S,
    resource: proof.url === null ? {} : { url: proof.url },
  }
  return signTypedData(proofTypedData(terms, signature), secret)
}

/** A secret of this kind never opens as a wallet's, and no wallet's as one of these. */
function ownerOf({ id, accountId }: Pick<SealedKey, 'id' | 'accountId'>): Owner {
  return { id, accountId, family: 'webhook', address: '' }
}

/** Of the whole row: another sealed secret under the same id is another one. */
function nameOf(wallet: Owner & Sealed): string {
  const { id, accountId, family, address, vaultKeyId, wrappedKey, sealedSecret } = wallet
  const row = [id, accountId, family, address, vaultKeyId, wrappedKey, sealedSecret]
  return bytesToHex(createHash('sha256').update(JSON.stringify(row)).digest())
}
