import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useRef, useState } from 'react'
import { findAsset } from '#contract/network.ts'
import { hasRole } from '#contract/role.ts'
import { serverNow } from '../../api/clock.ts'
import { useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { errorSentence } from '../../errors/codes.ts'
import { verdictOf, type Check } from '../../payment-view/check.ts'
import { refundPath, type Mispaid, rememberMispaid } from '../../payment-view/mispaid.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { ExpectedForm } from './ExpectedForm.tsx'
import { ResultCard } from './ResultCard.tsx'
import { readExpected, startFields, type ExpectedProblems } from './expected.ts'
import { factsOf, type ProofFacts } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'
import type { Accepting } from './proof/service-checks.ts'
import type { Recognized } from './recognize.ts'
import { checkAndAccept, checkOnly, type ProofQuestion, type ProofResult } from './run-checks.ts'
import { SettleCard } from './settle/SettleCard.tsx'

/** One proof: what it says, what the reader expected, and the result of comparing the two. */
export function ProofView({ found }: { found: Extract<Recognized, { kind: 'proof' }> }) {
  const { networks, sellerWallets } = useConfig()
  const state = useSession()
  const session = state.kind === 'known' ? state.session : null
  const facts = factsOf(found.payment)
  // What is settled is recorded as the merchant's.
  const settles = (payee: string) =>
    hasRole(session?.role, 'operator') || sellerWallets.includes(payee)
  const [fields, setFields] = useState(() =>
    startFields(facts, networks, [...(session?.wallets ?? []), ...sellerWallets]),
  )
  const [problems, setProblems] = useState<ExpectedProblems>({})
  const { busy, expected, result, mispaid, userError, run, forget } = useProofCheck()
  // A settlement in progress stays in view until it is left, no matter what the next check says:
  // its outcome is shown there.
  const [settling, setSettling] = useState(false)
  const isMine = (wallet: string) =>
    session !== null && (hasRole(session.role, 'operator') || session.wallets.includes(wallet))

  /** `landed`: the transaction that settled it from here, if the proof itself names none yet. */
  function check(kind: 'check' | 'accept', landed?: string) {
    const read = readExpected(fields, networks)
    setProblems(read.ok ? {} : read.problems)
    if (!read.ok) return
    const { expected } = read
    const accepting = {
      facilitatorUrl: fields.facilitator || null,
      timeoutS: Number(fields.timeout),
    }
    const how: How =
      kind === 'accept' ? { kind, accepting } : { kind, withService: isMine(expected.wallet) }
    const known = { ...facts, transaction: facts.transaction ?? landed ?? null }
    void run({ header: found.header, payment: found.payment, facts: known, expected }, how)
  }

  return (
    <>
      <ProofCard facts={facts} />
      <Card title={<Trans>What you expect</Trans>}>
        {/* What is accepted is used: its result answers the fields in view. */}
        <fieldset className="min-w-0" disabled={busy === 'accept'}>
          <ExpectedForm
            fields={fields}
            onChange={(next) => {
              setFields(next)
              forget()
            }}
            problems={problems}
          />
        </fieldset>
        {userError && (
          <Banner className="mt-4" role="alert" tone="warn">
            {userError}
          </Banner>
        )}
        <div className="mt-5 flex flex-wrap items-center gap-2">
          <Button
            busy={busy === 'check'}
            icon={<Icon name="shield" />}
            onClick={() => check('check')}
            variant="primary"
          >
            <Trans>Check only</Trans>
          </Button>
          {hasRole(session?.role, 'operator') && (
            <Button
              busy={busy === 'accept'}
              icon={<Icon name="check" />}
              onClick={() => check('accept')}
            >
              <Trans>Check and accept</Trans>
            </Button>
          )}
        </div>
        <CheckNote accepts={hasRole(session?.role, 'operator')} />
      </Card>
      {result && (
        <ResultCard
          network={networks.find(({ network }) => network === fields.network)}
          result={result}
        >
          {mispaid && expected && (
            <SendBack
              decimals={expected.asset.decimals}
              mispaid={mispaid}
              reminded={isMine(expected.wallet)}
            />
          )}
        </ResultCard>
      )}
      {expected &&
        (settling || (settles(expected.wallet) && result && verdictOf(result) !== 'invalid')) && (
          <SettleCard
            expected={expected}
            facts={facts}
            header={found.header}
            key={found.header}
            onBegun={setSettling}
            onSettled={(transaction) => check('check', transaction)}
            settled={result?.settled ?? false}
          />
        )}
    </>
  )
}

/**
 * Another amount was received than requested: no protocol returns it, the payee does. `reminded`:
 * the reader's overview lists it until then.
 */
function SendBack({
  mispaid,
  decimals,
  reminded,
}: {
  mispaid: Mispaid
  decimals: number
  reminded: boolean
}) {
  const { t } = useLingui()
  return (
    <>
      <Link
        className={buttonClass({})}
        to={refundPath(mispaid, {
          decimals,
          description: t`Refunded: wrong amount`,
        })}
      >
        <Icon name="back" /> <Trans>Refund</Trans>
      </Link>
      {reminded && (
        <p className="basis-full text-sm text-muted">
          <Trans>Arrived. Finish it in your overview.</Trans>
        </p>
      )}
    </>
  )
}

/** What the buttons do, shown before one is pressed. */
function CheckNote({ accepts }: { accepts: boolean }) {
  return (
    <p className="mt-3 text-sm text-muted">
      {accepts ? (
        <Trans>“Check and accept” settles and uses the proof.</Trans>
      ) : (
        <Trans>This check does not use the proof.</Trans>
      )}
    </p>
  )
}

/** What a proof says, before anything was checked. */
function ProofCard({ facts }: { facts: ProofFacts }) {
  const { networks } = useConfig()
  const network = networks.find((each) => each.network === facts.network)
  const { version } = facts
  const amount = facts.amountAtomic?.toString()
  const asset = network && facts.asset ? findAsset(network, facts.asset) : undefined
  return (
    <Card
      action={
        <Badge tone="info">
          <Trans>x402 version {version}</Trans>
        </Badge>
      }
      subtitle={<Trans>Decoded in this browser, not checked.</Trans>}
      title={<Trans>Proof</Trans>}
    >
      <Facts>
        {facts.amountAtomic !== null && (
          <Fact name={<Trans>Amount</Trans>}>
            {asset ? (
              <Amount
                atomic={facts.amountAtomic}
                decimals={asset.decimals}
                exact
                symbol={asset.symbol}
              />
            ) : (
              <Trans>{amount} units, unknown currency</Trans>
            )}
          </Fact>
        )}
        {!asset && facts.asset && (
          <Fact name={<Trans>Currency</Trans>} long>
            <Address copy full value={facts.asset} />
          </Fact>
        )}
        {facts.payTo && (
          <Fact name={<Trans>To</Trans>} long>
            <Address copy full value={facts.payTo} />
          </Fact>
        )}
        {facts.payer && (
          <Fact name={<Trans>From</Trans>} long>
            <Address copy full value={facts.payer} />
          </Fact>
        )}
        <Fact name={<Trans>Network</Trans>}>{network?.name ?? facts.networkName}</Fact>
        {facts.resource && (
          <Fact name={<Trans>Pays for</Trans>} long>
            <UntrustedText className="break-all" text={facts.resource} />
          </Fact>
        )}
        {facts.memo && (
          <Fact name={<Trans>Memo</Trans>} long>
            <UntrustedText className="font-mono text-[13px] break-all" text={facts.memo} />
          </Fact>
        )}
      </Facts>
      <Banner className="mt-4" icon="shield" tone="neutral">
        <Trans>Keep it secret: anyone can submit an unused proof.</Trans>
      </Banner>
    </Card>
  )
}

/** How a proof is checked: as far as it uses nothing up, with the service where it may be asked; or to the end. */
type How = { kind: 'check'; withService: boolean } | { kind: 'accept'; accepting: Accepting }

/** What was asked of a proof last, and what came of it. */
type ProofCheckState = {
  busy: How['kind'] | null
  expected: Expected | undefined
  result: ProofResult | undefined
  /** It came, in another amount than was asked for. */
  mispaid: Mispaid | undefined
  userError: string | undefined
  run: (question: ProofQuestion, how: How) => Promise<void>
  /** The form asks another question now: what was found, or is on its way, is not shown. */
  forget: () => void
}

function useProofCheck(): ProofCheckState {
  const [busy, setBusy] = useState<How['kind'] | null>(null)
  const [expected, setExpected] = useState<Expected>()
  const [found, setFound] = useState<{ result: ProofResult; mispaid: Mispaid | undefined }>()
  const [userError, setUserError] = useState<string>()
  const latest = useRef(0)

  async function run(question: ProofQuestion, how: How) {
    const turn = ++latest.current
    const isCurrent = () => how.kind === 'accept' || turn === latest.current
    setBusy(how.kind)
    setExpected(question.expected)
    setUserError(undefined)
    try {
      const result =
        how.kind === 'check'
          ? await checkOnly(question, how.withService)
          : await checkAndAccept(question, how.accepting)
      if (!isCurrent()) return
      const mispaid = mispaidOf(
        { ...result, payer: question.facts.payer },
        question.expected,
        serverNow(),
      )
      if (mispaid) rememberMispaid(mispaid)
      setFound({ result, mispaid })
    } catch (error) {
      if (isCurrent()) setUserError(errorSentence(error, t`The check failed.`))
    } finally {
      if (isCurrent()) setBusy(null)
    }
  }

  return {
    busy,
    expected,
    result: found?.result,
    mispaid: found?.mispaid,
    userError,
    run,
    forget: () => {
      latest.current++
      setBusy(null)
      setFound(undefined)
      setUserError(undefined)
    },
  }
}

/** What is known of a payment that is on the chain. */
export type OnChain = { checks: readonly Check[]; transaction: string | null; payer: string | null }

/**
 * What came in another amount than was asked for: the reader's own node shows that it came, in this currency, to this wallet.
 * Undefined where anything of that is not certain. `now`: Unix milliseconds.
 */
export function mispaidOf(
  { checks, transaction, payer }: OnChain,
  { network, asset, wallet, amountAtomic }: Expected,
  now: number,
): Mispaid | undefined {
  const checksByName = new Map(
    checks.filter(({ source }) => source === 'chain').map((check) => [check.name, check]),
  )
  const amount = checksByName.get('amount')
  const came = ['transaction', 'recipient', 'asset'].every(
    (name) => checksByName.get(name)?.state === 'ok',
  )
  if (!came || amount?.state !== 'bad' || amount.got.code !== 'amount' || !payer || !transaction)
    return undefined
  const { symbol, decimals, amountAtomic: cameAtomic } = amount.got.params
  if (symbol !== asset.symbol || decimals !== asset.decimals || BigInt(cameAtomic) <= 0n)
    return undefined
  const expectedAtomic = amountAtomic.toString()
  return {
    transaction,
    network: network.network,
    asset: asset.address,
    payer,
    wallet,
    cameAtomic,
    expectedAtomic,
    at: now,
  }
}
