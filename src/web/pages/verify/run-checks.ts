import { t } from '@lingui/core/macro'
import type { PaymentPayload } from '#x402/payload.ts'
import { serverNow } from '../../clock.ts'
import { lookOnChain, type ChainView } from './chain-checks.ts'
import type { Check, Outcome } from './check.ts'
import type { Facts } from './facts.ts'
import { checkLocally, type Expected } from './local-checks.ts'
import { settleKindOf } from './settle/kinds.ts'
import { accept, askWhetherGood, type Accepting } from './service-checks.ts'

/** All that is known of a proof. */
export type Result = Outcome & { transaction: string | null; paymentId: string | null; already: boolean; signIn: boolean }

export type Question = { header: string; payment: PaymentPayload; facts: Facts; expected: Expected }

/** Reads the proof alone: nothing leaves the browser. */
export async function readAlone({ facts, payment, expected }: Question): Promise<Check[]> {
  return checkLocally(facts, payment, { expected, now: serverNow() })
}

/** Checks and uses nothing up: the reader's own node, and the service where it may be asked. */
export async function checkOnly(question: Question, askService: boolean): Promise<Result> {
  const { facts, payment, expected } = question
  // What names the payee for the network fee is no facilitator's to judge: only the payee can settle it.
  const own = settleKindOf(facts, expected.wallet) === 'co_sign'
  const [local, chain, service] = await Promise.all([
    readAlone(question),
    lookOnChain(facts, expected),
    askService && !own ? askWhetherGood(payment, expected) : undefined,
  ])
  const { checks, used } = joined({ local, chain, service: service?.checks ?? [] })
  const alone = chain.absent && !service ? t`The payment is not on the chain yet. Sign in with the receiving wallet, and the service looks further.` : null
  const mine = own ? t`The proof names your wallet for the network fee, so only you can settle it. Preparing that below checks the rest.` : null
  const undecided = chain.settled || service?.vouched ? null : (mine ?? chain.undecided ?? service?.undecided ?? alone)
  return {
    checks,
    settled: chain.settled,
    vouched: service?.vouched ?? false,
    undecided,
    transaction: chain.transaction,
    paymentId: null,
    already: used,
    signIn: service?.signIn ?? (!askService && !own),
  }
}

/** Checks, settles, and uses the proof up. */
export async function checkAndAccept(question: Question, accepting: Accepting): Promise<Result> {
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

/** What the service reads from the proof itself is read here too. */
const READ_HERE = new Set(['scheme', 'network', 'method', 'format', 'asset', 'amount', 'recipient', 'resource'])
/** Why a proof can be carried out no more, in the service's words and here: on record, on the chain, out of its time. */
const OVER = new Set(['single_use', 'fresh', 'window'])

export type Looks = { local: readonly Check[]; chain: Pick<ChainView, 'checks' | 'settled'>; service: readonly Check[] }

/**
 * All checks of a proof. Where the chain shows that it was carried out, that it can be carried out no more is the same news and no fault of it.
 * `used`: it is on the service's record.
 */
export function joined({ local, chain, service }: Looks): { checks: Check[]; used: boolean } {
  const isOver = ({ name, state }: Check) => chain.settled && state === 'bad' && OVER.has(name)
  const news = service.filter(({ name, state }) => state === 'bad' || !READ_HERE.has(name))
  return {
    checks: [...local, ...chain.checks, ...news].filter((check) => !isOver(check)),
    used: service.some((check) => isOver(check) && check.name === 'single_use'),
  }
}
