import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { fact } from '#contract/facts.ts'
import { chainIdOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import {
  isMonitoredHere,
  type Chain,
  type ObservedTransfer,
  notifyMonitor,
} from '../chains/chain.ts'
import type { ContractCall, Execution, Quote, Use } from '../chains/contracts.ts'
import type { Context } from '../context/context.ts'
import type { OpenClaim } from '../db/claims.ts'
import { findPayment, type PaymentRecord } from '../db/payments.ts'
import { awaitChanges } from '../db/record-event.ts'
import { findOrder } from '../db/settlement-orders.ts'
import { broadcastStored } from '../hosted/broadcast.ts'
import { noteUnmatched } from '../payments/unmatched.ts'
import {
  acceptExecution,
  acceptFunds,
  checkFunds,
  checkPayer,
  checkValidity,
  contractsOf,
  factOfUse,
  simulateExecution,
} from '../verification/check-authorization.ts'
import { settleOfficially } from '../verification/official.ts'
import { DeadlineExceededError, readProofTime, type Deadline } from '../verification/proof-time.ts'
import { ProofRefusedError, undecided } from '../verification/verification-report.ts'
import { signCall, type WalletSigner } from '../wallets/sign.ts'
import { facilitatorWallets, openFeePayer } from './facilitator-wallet.ts'
import { monitorSettlement } from './monitor-settlement.ts'
import {
  orUndecided,
  outcome,
  ClaimSupersededError,
  seenOr,
  type Job,
  type Settled,
} from './outcome.ts'
import { persistSettlement } from './persist-settlement.ts'
import { recordBroadcast } from './record.ts'

type ClaimedAuthorization = { chain: Chain; lease: OpenClaim; authorization: VerifiedAuthorization }

const POLL_MS = 200

/**
 * Executes what the payer of a token signed, after its signature has been checked. It must not have
 * been executed before it was presented: on-chain data is public, and anybody could present it. The
 * payment is recorded before anything leaves, so that from then on only the chain decides.
 * @throws ProofRefusedError; `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE`
 */
export async function settleAuthorization(
  context: Context,
  job: Job,
  claimed: ClaimedAuthorization,
): Promise<Settled> {
  try {
    return await settleUnused(context, job, claimed)
  } catch (error) {
    if (error instanceof ProofRefusedError)
      await noteExecuted(context, job, { ...claimed, key: claimed.lease.key })
    throw error
  }
}

async function settleUnused(
  context: Context,
  job: Job,
  { chain, lease, authorization }: ClaimedAuthorization,
): Promise<Settled> {
  const { deadline, report } = job
  const executed = await executeAtOnce(context, job, { chain, authorization })
  const use: Use = executed
    ? { used: false }
    : await orUndecided(deadline.within(contractsOf(chain).findUse(authorization)))
  const { accountId, fingerprint, terms } = job
  // What was built for the payee of this question may land at any moment.
  if (
    use.used &&
    (await findOrder(context.db, {
      accountId,
      network: terms.network.network,
      key: lease.key,
      fingerprint,
    }))
  )
    throw new ClaimSupersededError()
  report.check('already_used', {
    name: 'fresh',
    source: 'chain',
    ok: !use.used,
    expected: fact('never_executed'),
    got: factOfUse(use),
  })
  checkValidity(
    { authorization, report },
    await orUndecided(deadline.within(readProofTime(context, terms.network.network))),
  )
  if (executed) acceptFunds({ terms, authorization, report }, executed.holding)
  else await orUndecided(deadline.within(checkFunds({ chain, terms, authorization, report })))
  const payment = job.remote
    ? await settleElsewhere(context, job, lease)
    : await settleHere(context, job, { chain, lease, authorization, executed })
  notifyMonitor(chain)
  return monitorAuthorization(context, job, { chain, payment, alreadyProcessed: false })
}

/**
 * Executes an authorization that a key signed in a simulation, in one request. A token does so only where it is unused,
 * in time and funded. Null where that is not shown, or where the payer has code, which may do otherwise when it is
 * asked again: then each fact is read by itself.
 */
async function executeAtOnce(
  context: Context,
  { deadline, remote }: Pick<Job, 'deadline' | 'remote'>,
  { chain, authorization }: Pick<ClaimedAuthorization, 'chain' | 'authorization'>,
): Promise<Execution | null> {
  const [address] = facilitatorWallets(context, 'evm')
  if (remote || address === undefined || authorization.signedBy !== 'key') return null
  const { token, from, method } = authorization
  const contracts = contractsOf(chain)
  try {
    const [executed, code] = await deadline.within(
      Promise.all([
        contracts.executes(
          { from: address, ...callOf(authorization) },
          { token, owner: from, spender: method === 'permit2' ? PERMIT2 : null },
        ),
        contracts.code(from),
      ]),
    )
    return code === undefined ? executed : null
  } catch (error) {
    if (error instanceof ProblemError || error instanceof DeadlineExceededError) return null
    throw error
  }
}

/** Waits until the service knows another block, for one block at most. */
async function untilNextBlock(chain: Chain, deadline: Deadline): Promise<void> {
  const before = await chain.recentHead()
  const until = performance.now() + chain.network.blockTimeMs
  do {
    await deadline.sleep(POLL_MS)
    const head = await chain.recentHead()
    if (head?.height !== before?.height || head?.finalizedHeight !== before?.finalizedHeight) return
  } while (!deadline.passed && performance.now() < until)
}

/** How often a waiter reads its row while the watcher of this process looks for it: another process may have changed it. */
const READ_EVERY_MS = 4_000
/** After so many blocks it looks itself. */
const MONITORED_BLOCKS = 4

/**
 * Waits until the outcome is known or the time is up, and looks once a block where no watcher of this process does.
 * It is this payment, no matter who executes it: it was presented first.
 */
export async function monitorAuthorization(
  context: Context,
  job: Pick<Job, 'deadline' | 'report'>,
  {
    chain,
    payment,
    alreadyProcessed,
  }: { chain: Chain; payment: PaymentRecord; alreadyProcessed: boolean },
): Promise<Settled> {
  const { deadline, report } = job
  using wait = awaitChanges(context.db, payment.id)
  const look = async (row: PaymentRecord) => {
    await monitorSettlement(context, { payment: row, chain })
    return true
  }
  const read = async () => (await findPayment(context.db, payment.id)) ?? payment
  const { blockTimeMs } = chain.network
  const monitoredMs = Math.max(READ_EVERY_MS, MONITORED_BLOCKS * blockTimeMs)
  let lookedAt = performance.now()
  let readAt = lookedAt
  let row = await read()
  while (row.status === 'pending' && !deadline.passed) {
    if (isMonitoredHere(chain, row.id) && performance.now() - lookedAt < monitoredMs) {
      const isChanged = await wait.changed(Math.min(blockTimeMs, deadline.leftMs))
      if (!isChanged && !deadline.passed && performance.now() - readAt < READ_EVERY_MS) continue
      row = await read()
      readAt = performance.now()
      continue
    }
    if ((await seenOr(deadline.within(look(row)))) === undefined) break
    row = await read()
    readAt = lookedAt = performance.now()
    if (row.status === 'pending' && !isMonitoredHere(chain, row.id))
      await untilNextBlock(chain, deadline)
  }
  return outcome({ report }, row, { alreadyProcessed, checks: report.checks })
}

/**
 * Verified there, recorded here, then settled there: the chain shows the outcome even if the last
 * call fails.
 */
async function settleElsewhere(
  context: Context,
  job: Job,
  claimed: OpenClaim,
): Promise<PaymentRecord> {
  await job.remote?.verify()
  const payment = await recordBroadcast(
    context,
    { ...job, lease: claimed, transfer: transferOf(job) },
    { limits: await limitsNow(context, job), signed: null },
  )
  try {
    await job.remote?.settle()
  } catch (error) {
    context.log.warn(
      { err: error, paymentId: payment.id },
      'a facilitator did not say that it settled; the chain is looked at',
    )
  }
  return payment
}

async function settleHere(
  context: Context,
  job: Job,
  { chain, lease, authorization, executed }: ClaimedAuthorization & { executed: Execution | null },
): Promise<PaymentRecord> {
  const [address] = facilitatorWallets(context, 'evm')
  const contracts = contractsOf(chain)
  const opened = await openFeePayer(context, address)
  await checkPayer(context, { chain, report: job.report }, authorization.from)
  const call = { from: opened.wallet.address, ...callOf(authorization) }
  if (executed) acceptExecution(job.report)
  const quote =
    executed?.quote ??
    (await orUndecided(job.deadline.within(simulateExecution({ chain, report: job.report }, call))))
  let settled: PaymentRecord | undefined
  const official = {
    contracts,
    terms: job.terms,
    authorization,
    address: opened.wallet.address,
    isExecuted: executed !== null,
  }
  const verdict = await orUndecided(
    job.deadline.within(
      settleOfficially(official, async (call) => {
        const sent = await send(context, job, { chain, lease, opened, call, quote })
        settled = sent.payment
        return sent.signature as `0x${string}`
      }),
    ),
  )
  if (settled) return settled
  // Our checks have all passed: an objection of the package proves nothing.
  context.log.warn(
    { verdict, network: chain.network.network },
    'the official facilitator did not settle a payment',
  )
  throw undecided('The payment could not be settled now. Nothing is decided.')
}

type Sending = {
  chain: Chain
  lease: OpenClaim
  opened: WalletSigner
  call: ContractCall
  quote: Extract<Quote, { ok: true }>
}

/** Signs in the wallet's nonce queue, stores payment and signed bytes, and only then broadcasts. */
async function send(
  context: Context,
  job: Job,
  { chain, lease, opened, call, quote }: Sending,
): Promise<{ payment: PaymentRecord; signature: string }> {
  const { wallet } = opened
  const { gas, maxFeePerGas, maxPriorityFeePerGas, feeAtomic, height } = quote
  const { payment, signed } = await persistSettlement(context, job, {
    chain,
    lease,
    transfer: transferOf(job),
    wallet: wallet.address,
    feeAtomic,
    limits: { builtHeight: height, lastValidBlockHeight: null },
    sign(nonce) {
      if (nonce === null) throw new TypeError(`${chain.network.network} has nonces.`)
      const fields = {
        chainId: chainIdOf(chain.network.network),
        nonce,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas,
        ...call,
      }
      return signCall(opened, fields)
    },
  })
  const { bytes, signature } = signed
  await broadcastStored(context, chain, {
    paymentId: payment.id,
    signature,
    signedTransaction: Buffer.from(bytes).toString('base64'),
  })
  context.atPoint?.('settle:broadcast')
  return { payment, signature }
}

async function limitsNow(context: Context, { terms }: Job) {
  const chain = context.chains.get(terms.network.network)
  // It ends with the authorization, which the chain measures by time.
  return { builtHeight: (await chain?.recentHead())?.height ?? 0, lastValidBlockHeight: null }
}

function transferOf({ terms, verifiedProof }: Job): ObservedTransfer {
  const { payTo, asset, amountAtomic } = terms
  return {
    sender: verifiedProof.payer ?? '',
    recipient: payTo,
    asset: asset.address,
    amountAtomic,
    memo: null,
    nonce: null,
  }
}

type Refused = { chain: Chain; key: string; authorization: VerifiedAuthorization }

/**
 * A refused authorization that a third party had executed: its payer paid and gets nothing. The
 * money is noted as unmatched for the payee. The refusal stands whatever happens here.
 */
async function noteExecuted(
  context: Context,
  { accountId, deadline, keyless = false }: Job,
  { chain, key, authorization }: Refused,
): Promise<void> {
  if (keyless) return
  try {
    await deadline.within(note())
  } catch (error) {
    context.log.warn(
      { err: error, network: chain.network.network, payer: authorization.from },
      'a refused authorization was not looked for among what was executed',
    )
  }

  async function note(): Promise<void> {
    const use = await contractsOf(chain).findUse(authorization)
    if (!use.used) return
    for (const signature of use.signature === null ? use.possible : [use.signature])
      await noteUnmatched(context, chain, {
        signature,
        accountIds: [accountId],
        executed: { key, authorization },
      })
  }
}
