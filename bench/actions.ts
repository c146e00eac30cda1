import { PublicKey } from '@solana/web3.js'
import { give } from '#testing/local-tokens.ts'
import { succeed, textAt, type ApiClient, type ApiReply } from '#testing/api-client.ts'
import { facilitatorBody, makeProof, type Presented } from '#testing/tenant-proofs.ts'
import { assetOf } from '#testing/two-tenants.ts'
import type { BenchFixture } from './fixture.ts'

/** What the benches have the service do, over HTTP. */

/** A payment that a payer has signed (EIP-3009), for the service to verify or settle. */
export function signAuthorization({ makers, payees }: BenchFixture): Promise<Presented> {
  return makeProof(makers, { method: 'evm eip3009', payTo: payees.evm, validSeconds: 3_600 })
}

/** The body of `/facilitator/verify` and `/facilitator/settle`. */
export function bodyOf(proof: Presented): object {
  return facilitatorBody(proof)
}

/** @throws Error where the payment is not valid */
export async function verify(api: ApiClient, proof: Presented): Promise<void> {
  const { body } = succeed(await api.post('/facilitator/verify', bodyOf(proof)))
  if (!isTrue(body, 'isValid')) throw new Error(`Not valid: ${JSON.stringify(body)}`)
}

/** Whether it was settled. */
export async function settle(api: ApiClient, proof: Presented): Promise<boolean> {
  return isTrue((await api.post('/facilitator/settle', bodyOf(proof))).body, 'success')
}

function isTrue(body: unknown, field: string): boolean {
  return typeof body === 'object' && body !== null && Reflect.get(body, field) === true
}

export const DRAFTS = ['ETH', 'USDC on EVM', 'SOL', 'USDC on Solana'] as const
export type DraftKind = (typeof DRAFTS)[number]

/** A new payer who holds what a payment of this kind moves. */
export async function openDraftPayer(fixture: BenchFixture, kind: DraftKind): Promise<string> {
  const { makers, tokens } = fixture
  if (kind === 'ETH' || kind === 'USDC on EVM') {
    const account = await makers.payer()
    if (kind === 'USDC on EVM') await tokens.fund(account.address)
    return account.address
  }
  return (await makers.solana.payer()).publicKey.toBase58()
}

/** The body of `/transaction/send`. */
export function draftBody(fixture: BenchFixture, kind: DraftKind, walletAddress: string): object {
  const { payees, networks } = fixture
  const onEvm = kind.endsWith('EVM') || kind === 'ETH'
  const network = networks[onEvm ? 0 : 1]
  return {
    walletAddress,
    recipientAddress: onEvm ? payees.evm : payees.solana,
    amount: 0.01,
    network: network.network,
    asset: kind.startsWith('USDC') ? 'USDC' : undefined,
  }
}

/** An unsigned transaction; the payment is a draft until its payer signs. */
export async function buildDraft(
  fixture: BenchFixture,
  kind: DraftKind,
  payer: string,
): Promise<ApiReply> {
  return succeed(await fixture.api.post('/transaction/send', draftBody(fixture, kind, payer)))
}

/** A payment that the service signs itself; resolves when it is durable. @returns its id */
export async function sendHosted({ api, tills }: BenchFixture, family: string): Promise<string> {
  const till = tills.find((each) => each.family === family)
  if (!till) throw new Error(`no wallet of ${family}`)
  const body = { walletAddress: till.address, recipientAddress: till.payee, amount: 0.001 }
  const headers = { 'Idempotency-Key': crypto.randomUUID(), Prefer: 'respond-async' }
  return textAt(succeed(await api.post('/payment/send', body, headers)).body, 'paymentId')
}

/** The wallet of the account on Solana has a token account, as on a real chain. */
export async function openTokenAccounts({ makers, payees }: BenchFixture): Promise<void> {
  const usdc = assetOf(makers.solana.network, 'USDC')
  await give(makers.solana, usdc, { owner: new PublicKey(payees.solana), amount: 0n })
}
