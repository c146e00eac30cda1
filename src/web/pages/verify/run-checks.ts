import { t } from '@lingui/core/macro'
import type { PaymentPayload } from '#x402/payload.ts'
import { serverNow } from '../../api/clock.ts'
import { readOnChain, type ChainView } from './chain-checks.ts'
import type { Check, CheckOutcome } from '../../payment-view/check.ts'
import type { ProofFacts } from './proof/facts.ts'
import { checkLocally, type Expected } from './proof/local-checks.ts'
import { settleKindOf } from './settle/kinds.ts'
import {
  accept,
  checkWithService,
  type Accepting,
  type ServiceView,
} from './proof/service-checks.ts'

/** Everything known about a proof. */
export type ProofResult = CheckOutcome & {
  transaction: string | null
  paymentId: string | null
  already: boolean
  signIn: boolean
}

export type ProofQuestion = {
  header: string
  payment: PaymentPayload
  facts: ProofFacts
  expected: Expected
}

/** Checks the proof alone: nothing leaves the browser. */
export async function readAlone({ facts, payment, expected }: ProofQuestion): Promise<Check[]> {
  return checkLocally(facts, payment, { expected, now: serverNow() })
}

/**
 * The same; a message that the payer's key did not sign may be a contract's: the reader's own node
 * is asked.
 */
async function readWithContract(question: ProofQuestion): Promise<Check[]> {
  const { payment, facts, expected } = question
  const local = await readAlone(question)
  const { body } = facts
  const isMessage = body.kind === 'authorization' || body.kind === 'permit'
  if (!isMessage || !local.some(({ name, state }) => name === 'signature' && state === 'bad'))
    return local
  const { readPayerContract } = await import('./contract-signature.ts')
  const answer = await readPayerContract({ payment, body, expected })
  return local.map((check) => (check.name === 'signature' && answer !== null ? answer : check))
}

/** Checks and uses nothing up: the reader's own node, and the service if it may be asked. */
export async function checkOnly(
  question: ProofQuestion,
  withService: boolean,
): Promise<ProofResult> {
  const { facts, payment, expected } = question
  // If the proof names the payee as fee payer, no facilitator can judge it: only the payee can
  // settle it.
  const own = settleKindOf(facts, expected.wallet) === 'co_sign'
  const [local, chain, service] = await Promise.all([
    readWithContract(question),
    readOnChain(facts, expected),
    withService && !own ? checkWithService(payment, expected) : undefined,
  ])
  const { checks, used } = joined({ local, chain, service: service?.checks ?? [] })
  return {
    checks,
    ...weigh({ chain, service, own }),
    transaction: chain.transaction,
    paymentId: null,
    already: used,
    signIn: service?.signIn ?? (!withService && !own),
  }
}

/** Checks, settles, and uses the proof up. */
export async function checkAndAccept(
  question: ProofQuestion,
  accepting: Accepting,
): Promise<ProofResult> {
  const local = await readAlone(question)
  const view = await accept(question.header, question.expected, accepting)
  return {
    checks: [...local.filter(({ state }) => state === 'ok'), ...view.checks],
    settled: view.settled,
    vouched: view.vouched,
    undecided: view.undecided,
    transaction: question.facts.transaction,
    paymentId: view.paymentId,
    already: view.already,
    signIn: view.signIn,
  }
}

/** These facts of the proof, which the service also reports, are read here. */
const READ_HERE = new Set([
  'scheme',
  'network',
  'method',
  'format',
  'asset',
  'amount',
  'recipient',
  'resource',
])
/**
 * Whether a proof could be executed now, in the service's check names. Just after execution, the
 * first of these to be checked fails.
 */
const ONCE = new Set([
  'single_use',
  'fresh',
  'simulation',
  'valid_after',
  'valid_before',
  'balance',
  'allowance',
])

export type CheckSources = {
  local: readonly Check[]
  chain: Pick<ChainView, 'checks'>
  service: readonly Check[]
}

/**
 * All checks of a proof. If the chain shows that it was executed, at any depth, then "can no longer
 * be executed" follows from that and is not a fault. That the on-chain payment is from another time
 * than the service accepts is a fault: it concerns the payment itself. `used`: it is on the
 * service's record.
 */
export function joined({ local, chain, service }: CheckSources): {
  checks: Check[]
  used: boolean
} {
  const used = wasCarriedOut(chain) || isUsed(chain)
  const isOver = ({ name, state }: Check) =>
    wasCarriedOut(chain) && state === 'bad' && ONCE.has(name)
  const news = service.filter(({ name, state }) => state === 'bad' || !READ_HERE.has(name))
  return {
    checks: [
      ...local.filter(
        (check) =>
          !(used && check.state === 'bad' && check.name === 'window') &&
          !(wasCarriedOut(chain) && isOutdated(check)),
      ),
      ...chain.checks,
      ...news.filter((check) => !isOver(check)),
    ],
    used: service.some((check) => isOver(check) && check.name === 'single_use'),
  }
}

/**
 * After execution, a contract may answer differently about its signature, for example after its
 * owners changed. The token asked it at the time.
 */
function isOutdated({ name, source, state }: Check): boolean {
  return state !== 'ok' && name === 'signature' && source === 'chain'
}

/** The reader's node shows this very payment, perhaps in a block that is not deep enough yet. */
function wasCarriedOut({ checks }: CheckSources['chain']): boolean {
  return (
    checks.some(
      ({ name, state }) => (name === 'transaction' || name === 'transfer') && state === 'ok',
    ) && checks.every(({ state }) => state !== 'bad')
  )
}

/** It cannot be executed any more, and the reader's node does not show what used it. */
function isUsed({ checks }: CheckSources['chain']): boolean {
  return checks.some(({ name, state }) => name === 'fresh' && state === 'open')
}

export type Weighed = {
  chain: ChainView
  service: ServiceView | undefined
  /** Only the payee can settle it. */ own: boolean
}

/**
 * Which of the two decides: the reader's own node before the service, and neither about what the
 * other cannot show yet.
 */
export function weigh({
  chain,
  service,
  own,
}: Weighed): Pick<CheckOutcome, 'settled' | 'vouched' | 'undecided'> {
  const vouched = service?.vouched ?? false
  if (chain.settled) return { settled: true, vouched, undecided: null }
  if (wasCarriedOut(chain)) {
    return {
      settled: false,
      vouched,
      undecided: t`More confirmations needed. Check again.`,
    }
  }
  const landed =
    vouched &&
    service?.checks.some(
      ({ name, source, state }) =>
        name === 'transaction' && source === 'service_chain' && state === 'ok',
    )
  if (landed && chain.absent) {
    return {
      settled: false,
      vouched,
      undecided: t`Your RPC endpoint lags behind. Check again.`,
    }
  }
  // The node was not asked, so the service's reading stands alone, and the result says so.
  if (landed) return { settled: true, vouched, undecided: chain.undecided }
  if (vouched) return { settled: false, vouched, undecided: null }
  const alone = chain.absent && !service ? t`Not on the chain. Use the receiving wallet.` : null
  const mine = own ? t`Prepare the settlement below.` : null
  return {
    settled: false,
    vouched,
    undecided: mine ?? chain.undecided ?? service?.undecided ?? alone,
  }
}
