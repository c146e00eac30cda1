import * as v from 'valibot'
import type { Socket } from 'node:net'
import type { Hex } from 'viem'
import { ProblemError, problems, type ProblemFacts } from '#contract/problem.ts'
import type { ProblemCode } from '#contract/problem-codes.ts'

/**
 * What the service may ask of the signer, and how it travels: one JSON document a line, over a Unix socket. Both sides check what they read: the service does
 * not trust the signer with what is broadcast, and the signer does not trust the service with anything.
 */

/** The time to pay that the terms of a proof name, in seconds: the payment has been made. */
export const PROOF_TIMEOUT_S = 60

/** What the process ends with when another signer of its folder runs. */
export const ANOTHER_RUNS = 75

/** Printable: a line break in a name could make the seal of one wallet that of another. */
const text = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(4_096),
  v.regex(/^[\x20-\x7e]*$/, 'Expected printable ASCII.'),
)
const bytes = v.pipe(
  v.string(),
  v.base64(),
  v.transform((base64): Uint8Array => Buffer.from(base64, 'base64')),
)
const family = v.picklist(['evm', 'solana'])

/** A wallet as the database holds it: whose it is, and its sealed secret. */
const SealedWallet = v.object({
  id: text,
  accountId: text,
  family,
  address: text,
  vaultKeyId: text,
  wrappedKey: text,
  sealedSecret: text,
})
export type SealedWallet = v.InferOutput<typeof SealedWallet>

const owner = { id: text, accountId: text }

/** A secret that signs messages to a merchant's server, as the database holds it. It is bound to its owner and is no wallet's. */
const SealedKey = v.object({ ...owner, vaultKeyId: text, wrappedKey: text, sealedSecret: text })
export type SealedKey = v.InferOutput<typeof SealedKey>

const NewSigningKey = v.object({ ...owner, secret: bytes })
export type NewSigningKey = v.InferOutput<typeof NewSigningKey>

const MacRequest = v.object({ key: SealedKey, message: bytes })
export type MacRequest = v.InferOutput<typeof MacRequest>

const NewSecret = v.object({
  id: text,
  accountId: text,
  family,
  /** An existing key of 32 bytes; a new one otherwise. */
  secret: v.optional(
    v.pipe(
      bytes,
      v.check(({ length }) => length === 32),
    ),
  ),
})
export type NewSecret = v.InferOutput<typeof NewSecret>

const SignRequest = v.object({
  wallet: SealedWallet,
  /** EVM: unsigned, with its nonce. Solana: with the signatures of all others. */
  transaction: bytes,
  /** Asks for a proof of this payment for a resource, or for none in particular (null). */
  proof: v.optional(v.object({ url: v.nullable(v.pipe(v.string(), v.maxLength(4_096))) })),
})
export type SignRequest = v.InferOutput<typeof SignRequest>

const Signature = v.object({
  bytes,
  signature: text,
  proofSignature: v.nullable(
    v.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x')),
  ),
})
/**
 * A signed transaction. `signature` names it on its chain: its hash (EVM) or its first signature (Solana). `proofSignature`: the payer's signature over the
 * proof, on EVM where one was asked for.
 */
export type SignerSignature = v.InferOutput<typeof Signature>

const VaultKeyRequest = v.object({ make: v.boolean() })
/** `keyId`: of the key that seals; null without one. `place`: its file, or its ARN. */
const FoundVaultKey = v.object({ keyId: v.nullable(text), place: v.string() })
export type FoundVaultKey = v.InferOutput<typeof FoundVaultKey>

/** Signs for managed wallets: the only holder of their keys. */
export interface Signer extends AsyncDisposable {
  /** @throws when it cannot sign now */
  check(): Promise<void>
  /**
   * Which key of the vault seals. `make`: a key file that is not there is made; only its caller knows whether anything is sealed under another key.
   * @throws Error for a key file that cannot be used
   */
  vaultKey(request: { make: boolean }): Promise<FoundVaultKey>
  /** Makes or takes a key and seals it. `secret` is overwritten. */
  seal(request: NewSecret): Promise<SealedWallet>
  /**
   * Has the key of a wallet at hand for a minute: where the vault is far away, nothing far is asked while a database transaction is open.
   * @throws Error when the sealed secret does not open; `SERVICE_UNAVAILABLE` without a signer
   */
  open(wallet: SealedWallet): Promise<void>
  /**
   * Signs a payment from the wallet, or a settlement of which the wallet pays the network fee. Which of the two it is, whom it pays and what it costs are read
   * from the transaction alone.
   * @throws `SIGNING_REFUSED` when it is neither, or the operator's policy forbids it: nothing was signed. `SERVICE_UNAVAILABLE` without a
   * signer, or when it is lost: no signature has left it.
   */
  sign(request: SignRequest): Promise<SignerSignature>
  /** Seals a secret that signs messages. `secret` is overwritten. */
  sealKey(request: NewSigningKey): Promise<SealedKey>
  /**
   * The HMAC-SHA256 of a message under such a secret.
   * @throws Error when the sealed secret does not open; `SERVICE_UNAVAILABLE` without a signer
   */
  mac(request: MacRequest): Promise<Uint8Array>
}

const nothing = v.optional(v.null(), null)
export const METHODS = {
  check: { params: nothing, result: nothing },
  vaultKey: { params: VaultKeyRequest, result: FoundVaultKey },
  seal: { params: NewSecret, result: SealedWallet },
  open: { params: SealedWallet, result: nothing },
  sign: { params: SignRequest, result: Signature },
  sealKey: { params: NewSigningKey, result: SealedKey },
  mac: { params: MacRequest, result: bytes },
} as const
export type Method = keyof typeof METHODS

export const Request = v.object({
  id: v.number(),
  method: v.picklist(['check', 'vaultKey', 'seal', 'open', 'sign', 'sealKey', 'mac']),
  params: v.unknown(),
})
const ReplyLine = v.object({
  id: v.number(),
  result: v.optional(v.unknown()),
  problem: v.optional(
    v.object({
      code: v.custom<ProblemCode>((code) => typeof code === 'string' && code in problems),
      facts: v.custom<ProblemFacts>((facts) => typeof facts === 'object' && facts !== null),
    }),
  ),
  failure: v.optional(v.string()),
})
export type SignerReply = v.InferOutput<typeof ReplyLine>

/** @throws when the line is not a reply */
export function readReply(line: string): SignerReply {
  return v.parse(ReplyLine, JSON.parse(line))
}

/** What a request failed with, as the other side is told. */
export function describeError(error: unknown): Pick<SignerReply, 'problem' | 'failure'> {
  if (error instanceof ProblemError) return { problem: { code: error.code, facts: error.facts } }
  return { failure: error instanceof Error ? error.message : String(error) }
}

export function errorOf({ problem, failure }: SignerReply): Error {
  return problem
    ? new ProblemError(problem.code, problem.facts)
    : new Error(failure ?? 'The signer answered without a result.')
}

/** Bytes travel as base64. A Buffer is asked for its JSON form before `replacer` sees it, so the owner of the field is read. */
export function writeLine(value: unknown): string {
  return `${JSON.stringify(
    value,
    function replacer(this: Readonly<Record<string, unknown>>, name: string, part: unknown) {
      const field = this[name]
      return field instanceof Uint8Array ? Buffer.from(field).toString('base64') : part
    },
  )}\n`
}

/** More than any transaction needs. */
const MAX_LINE = 1_000_000
const MAX_PARTS = 1_000

/** Calls back with each line; a peer that sends an endless one is cut off. */
export function readLines(socket: Socket, onLine: (line: string) => void): void {
  let parts: Buffer[] = []
  let length = 0
  socket.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      onLine(Buffer.concat([...parts, chunk.subarray(from, end)]).toString())
      ;[parts, length, from] = [[], 0, end + 1]
    }
    parts.push(chunk.subarray(from))
    // One byte at a time would otherwise take a hundred times its length.
    if (parts.length > MAX_PARTS) parts = [Buffer.concat(parts)]
    length += chunk.length - from
    if (length > MAX_LINE) socket.destroy()
  })
}
