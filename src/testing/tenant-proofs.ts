import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { Hex } from 'viem'
import type { x402Client } from '@x402/core/client'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Asset } from '#contract/network.ts'
import { encodeBase64 } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { ApiReply } from './api-client.ts'
import { WALLET_FEES } from './tenant-orders.ts'
import { proveMemo, proveTransfer, proveTxid } from './proofs.ts'
import { evmPayer, payInvoice, solanaPayer } from './token-payers.ts'
import type { Tenant, Tenants } from './two-tenants.ts'

/** A payment proof with all that a merchant says about it at either door. */
export type Presented = {
  method: ProofMethod
  header: string
  payTo: string
  asset: Asset
  /** In whole units. */
  amount: number
  atomic: bigint
  network: string
  resource: string
  memo?: string
  /** How long what is signed is valid; a minute otherwise. */
  validSeconds?: number
  extra: Record<string, unknown>
}

/** The chains and payers that proofs are made with. */
export type ProofMakers = Pick<Tenants, 'evm' | 'eth' | 'usdc' | 'payer' | 'feePayer' | 'solana'>

/** Every way to prove a payment: broadcast by the payer, or signed by the payer and broadcast by the service. */
export const EVM_METHODS = ['evm txid', 'evm signed-transaction', 'evm eip3009'] as const
export const SOLANA_METHODS = ['solana txid', 'solana native-transfer', 'solana token'] as const
/** By payers who have let Permit2 move their tokens, or are a contract. */
export const HOLDER_METHODS = [
  'evm permit2',
  'evm contract eip3009',
  'evm contract permit2',
] as const
export type ProofMethod =
  | (typeof EVM_METHODS)[number]
  | (typeof SOLANA_METHODS)[number]
  | (typeof HOLDER_METHODS)[number]

const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
export const RESOURCE = 'https://shop.example/article'

/** Where a method's money goes. */
export function payeeOf({ payout }: Pick<Tenant, 'payout'>, method: ProofMethod): string {
  return method.startsWith('evm') ? payout.evm.address : payout.solana.publicKey.toBase58()
}

/** A new payer pays, and proves it. */
export async function makeProof(
  t: ProofMakers,
  {
    resource = RESOURCE,
    ...rest
  }: { method: ProofMethod; payTo: string; resource?: string; validSeconds?: number },
): Promise<Presented> {
  const terms = { ...rest, resource }
  const { method } = terms
  if (method === 'evm txid') return proveSent(t, terms)
  if (method === 'evm signed-transaction') return proveSigned(t, terms)
  if (method === 'evm eip3009') return proveAuthorized(t, terms, evmPayer(t.evm, await t.payer()))
  if (method === 'solana token') return proveTokens(t, terms)
  return proveSol(t, terms)
}

/** At `/payment/receive`. */
export function receive(
  tenant: Pick<Tenant, 'api'>,
  proof: Presented,
  more: object = {},
): Promise<ApiReply> {
  return tenant.api.post('/payment/receive', { ...receiveBody(proof), timeout: 60, ...more })
}

/** At `/transaction/receive`. */
export function settleAlone(tenant: Pick<Tenant, 'api'>, proof: Presented): Promise<ApiReply> {
  return tenant.api.post('/transaction/receive', receiveBody(proof))
}

/** At `/facilitator/verify` or `/facilitator/settle`, as a resource server asks there. */
export function atFacilitator(
  { api }: Pick<Tenant, 'api'>,
  door: 'verify' | 'settle',
  proof: Presented,
): Promise<ApiReply> {
  return api.post(`/facilitator/${door}`, facilitatorBody(proof))
}

export function receiveBody({
  header,
  payTo,
  asset,
  amount,
  network,
  resource,
  memo,
}: Presented): object {
  return {
    walletAddress: payTo,
    paymentProof: header,
    expectedAmount: amount,
    asset: asset.symbol,
    network,
    resource,
    ...(memo !== undefined && { memo }),
  }
}

export function facilitatorBody(proof: Presented): object {
  const paymentRequirements: Requirements = {
    ...requirementsOf(proof),
    extra: {
      ...proof.extra,
      resource: proof.resource,
      ...(proof.memo !== undefined && { memo: proof.memo }),
    },
  }
  return {
    x402Version: 2,
    paymentPayload: JSON.parse(Buffer.from(proof.header, 'base64').toString()),
    paymentRequirements,
  }
}

/** The same payment as its payer would prove it for another resource: only the payer can. */
export async function proveSent(
  t: ProofMakers,
  terms: Terms,
  sent?: { payer: PrivateKeyAccount; hash: string; atomic: bigint },
): Promise<Presented> {
  const [network, atomic] = [t.evm.network.network, sent?.atomic ?? 10n ** 16n]
  const payer = sent?.payer ?? (await t.payer())
  const hash = sent?.hash ?? (await payPlain(t, payer, { to: terms.payTo, value: atomic }))
  const header = await proveTxid({
    payer,
    network,
    payTo: terms.payTo,
    amount: atomic,
    txRef: hash,
    url: terms.resource,
  })
  return {
    ...terms,
    header,
    asset: t.eth,
    amount: Number(atomic) / 1e18,
    atomic,
    network,
    extra: { assetTransferMethod: 'txid' },
  }
}

type Terms = { method: ProofMethod; payTo: string; resource: string; validSeconds?: number }

async function proveSigned(t: ProofMakers, terms: Terms): Promise<Presented> {
  const atomic = 10n ** 16n
  const signedTransaction = await signPlain(await t.payer(), { to: terms.payTo, value: atomic })
  const proof = {
    ...terms,
    header: '',
    asset: t.eth,
    amount: 0.01,
    atomic,
    network: t.evm.network.network,
    extra: { assetTransferMethod: 'signed-transaction' },
  }
  const value = {
    x402Version: 2,
    resource: { url: terms.resource },
    accepted: requirementsOf(proof),
    payload: { signedTransaction },
  }
  return { ...proof, header: encodeBase64(new TextEncoder().encode(JSON.stringify(value))) }
}

/** This payer signs a transfer of USDC, which the service broadcasts. */
export async function proveAuthorized(
  t: Pick<ProofMakers, 'evm' | 'usdc'>,
  terms: Terms,
  payer: x402Client,
): Promise<Presented> {
  const extra = terms.method.endsWith('permit2')
    ? { assetTransferMethod: 'permit2' }
    : { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' }
  const proof = {
    ...terms,
    header: '',
    asset: t.usdc,
    amount: 1.5,
    atomic: 1_500_000n,
    network: t.evm.network.network,
    extra,
  }
  return {
    ...proof,
    header: await payInvoice(payer, requirementsOf(proof), { url: terms.resource }),
  }
}

async function proveTokens(t: ProofMakers, terms: Terms): Promise<Presented> {
  const { network } = t.solana.network
  const asset = t.solana.network.assets.find(({ native }) => !native)
  if (!asset) throw new Error('no token')
  const proof = {
    ...terms,
    header: '',
    asset,
    amount: 1.5,
    atomic: 1_500_000n,
    network,
    extra: { feePayer: t.feePayer },
  }
  return {
    ...proof,
    header: await payInvoice(solanaPayer(t.solana, await t.solana.payer()), requirementsOf(proof), {
      url: terms.resource,
    }),
  }
}

async function proveSol(t: ProofMakers, terms: Terms): Promise<Presented> {
  const [network, lamports, memo] = [
    t.solana.network.network,
    10_000_000n,
    `order-${crypto.randomUUID()}`,
  ]
  const payer = await t.solana.payer()
  const { blockhash } = await t.solana.connection.getLatestBlockhash('confirmed')
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 30_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
    SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: new PublicKey(terms.payTo),
      lamports,
    }),
    new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(memo) }),
  ]
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions,
    }).compileToV0Message(),
  )
  transaction.sign([payer])
  const told = { network, payTo: terms.payTo, lamports, memo, url: terms.resource }
  const proof = { ...terms, asset: t.solana.sol, amount: 0.01, atomic: lamports, network, memo }
  if (terms.method === 'solana native-transfer')
    return {
      ...proof,
      header: proveTransfer(told, transaction.serialize()),
      extra: { assetTransferMethod: 'native-transfer' },
    }
  const signature = await t.solana.connection.sendRawTransaction(transaction.serialize())
  return { ...proof, header: proveMemo(told, signature), extra: { assetTransferMethod: 'txid' } }
}

function requirementsOf({
  network,
  atomic,
  asset,
  payTo,
  validSeconds = 60,
  extra,
}: Omit<Presented, 'header'>): Requirements {
  return {
    scheme: 'exact',
    network,
    amount: atomic.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: validSeconds,
    extra,
  }
}

/** A new payer's first transaction: ether, as a wallet sends it without any service. */
export async function payPlain(
  t: ProofMakers,
  payer: PrivateKeyAccount,
  call: PlainCall,
): Promise<Hex> {
  return t.evm.client.sendRawTransaction({ serializedTransaction: await signPlain(payer, call) })
}

type PlainCall = { to: string; value: bigint; nonce?: number }

function signPlain(payer: PrivateKeyAccount, { to, value, nonce = 0 }: PlainCall): Promise<Hex> {
  return payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    gas: 50_000n,
    ...WALLET_FEES,
    nonce,
    to: to as Hex,
    value,
  })
}
