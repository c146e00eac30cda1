import { ProblemError } from '#contract/problem.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context.ts'
import { findClaim, type Claimant } from '../db/claims.ts'
import { chainOf } from '../payments/network.ts'
import { callOf, type Authorization } from '#chains/evm/authorization.ts'
import { checkFunds, checkSignature, checkValidity, contractsOf } from './check-authorization.ts'
import { undecided } from './checklist.ts'
import { Late, type Deadline } from './deadline.ts'
import { facilitatorWallets } from './facilitator-wallet.ts'
import { judge, judgeMemo, type Judged } from './judge.ts'
import { verifyOfficially } from './official.ts'
import { verifyTokenOfficially } from './official-solana.ts'
import { messageKey } from './read-signed.ts'
import { rehearseSigned } from './rehearse.ts'
import { isCertain, watch } from './watch.ts'

type Preview = Judged & { claimant: Claimant; deadline: Deadline }

/**
 * Whether a payment could be settled now, without holding, signing, sending or recording anything.
 * @returns who pays, as far as that is known
 * @throws ProofRefused; Late, `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE` when nothing is decided
 */
export async function preview(context: Context, previewed: Preview): Promise<string | null> {
  const { terms, examined } = previewed
  const chain = chainOf(context, terms.network.network)
  const { authorization, signature } = examined
  if (authorization) return previewAuthorization(context, previewed, { chain, authorization })
  // What the sponsor would have to sign first cannot be on the chain without having been claimed.
  return signature === null ? previewUnsent(context, previewed, chain) : previewNamed(context, previewed, { chain, signature })
}

async function previewNamed(context: Context, previewed: Preview, { chain, signature }: { chain: Chain; signature: string }): Promise<string | null> {
  const { examined, deadline } = previewed
  // What is for us to broadcast is looked up once; what the payer has broadcast is waited for.
  const seen = await watch(chain, { signature, deadline, stop: () => examined.bytes !== null })
  if (!seen) throw new Late()
  const key = examined.key ?? (isCertain(seen) && seen.messageHash !== undefined ? messageKey(seen.messageHash) : null)
  await checkUnused(context, previewed, key)
  const landed = seen.state === 'landed'
  if (isCertain(seen)) return (await judge(context, previewed, seen)).sender
  // Tried out now it would fail, because it has happened.
  if (landed) throw undecided('The payment is on the chain, in a block that may still be replaced. Nothing is decided.')
  return previewSigned(context, previewed, chain)
}

async function previewUnsent(context: Context, previewed: Preview, chain: Chain): Promise<string | null> {
  await checkUnused(context, previewed, previewed.examined.key)
  return previewSigned(context, previewed, chain)
}

async function previewSigned(context: Context, previewed: Preview, chain: Chain): Promise<string | null> {
  const { terms, examined } = previewed
  if (!examined.bytes) throw new ProblemError('PAYMENT_VERIFICATION_FAILED')
  await judgeMemo(context, previewed, examined.memo)
  await rehearseSigned(previewed, chain, examined.bytes)
  const { bytes, sponsor } = examined
  const verdict = sponsor && !terms.asset.native ? await verifyTokenOfficially({ chain, terms, bytes, sponsor }) : null
  refuseVerdict(context, chain, verdict)
  return examined.payer
}

/** What the package objects to, though our own checks have all passed, is not proven bad. */
function refuseVerdict(context: Context, chain: Chain, verdict: string | null): void {
  if (verdict === null) return
  context.log.warn({ verdict, network: chain.network.network }, 'the official facilitator does not verify a payment')
  throw undecided('The payment could not be verified now. Nothing is decided.')
}

type Authorized = { chain: Chain; authorization: Authorization }

async function previewAuthorization(context: Context, previewed: Preview, { chain, authorization }: Authorized): Promise<string> {
  const { terms, examined, checklist } = previewed
  const contracts = contractsOf(chain)
  await checkUnused(context, previewed, examined.key)
  const verified = await checkSignature({ chain, terms, authorization, checklist })
  const use = await contracts.findUse(authorization)
  checklist.check('already_used', { name: 'fresh', source: 'chain', ok: !use.used, expected: 'never carried out', got: use.used ? 'carried out' : 'never' })
  checkValidity({ authorization, checklist }, context.now())
  await checkFunds({ chain, authorization, checklist })
  const [address] = facilitatorWallets(context, 'evm')
  if (address === undefined) throw undecided('This service settles no tokens: no wallet pays the network for them. Nothing is decided.')
  const quote = await contracts.quote({ from: address, ...callOf(verified) })
  const got = quote.ok ? 'accepted' : quote.reason
  checklist.check('simulation_failed', { name: 'simulation', source: 'chain', ok: quote.ok, expected: 'accepted', got })
  refuseVerdict(context, chain, await verifyOfficially({ contracts, terms, authorization: verified, address }))
  return authorization.from
}

async function checkUnused(context: Context, { terms, claimant, checklist }: Preview, key: string | null): Promise<void> {
  const used = key !== null && (await findClaim(context.db, { network: terms.network.network, key, scope: claimant.scope }))?.consumedAt
  checklist.check('already_used', { name: 'single_use', source: 'record', ok: !used, expected: 'never used', got: used ? 'used' : 'never used' })
}
