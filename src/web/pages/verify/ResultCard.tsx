import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, type ReactNode } from 'react'
import { explorerLink, type Network } from '#contract/network.ts'
import { pathTo } from '../../router/paths.ts'
import { joinMessage } from '../../errors/row.ts'
import { proofReasons } from '../../errors/proof-reasons.ts'
import { Link } from '../../router/Link.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { Address } from '../../ui/Address.tsx'
import { announce } from '../../ui/announce.tsx'
import { toneClass } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass, cx } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { firstBad, verdictOf } from '../../payment-view/check.ts'
import { CheckList } from './CheckList.tsx'
import type { ProofResult } from './run-checks.ts'
import { verdictWords } from './words.ts'

export type ResultCardProps = {
  result: ProofResult
  network: Network | undefined
  children?: ReactNode
}

/** The one word, and everything it rests on. It comes into view, and the focus to it: it is what was asked for. */
export function ResultCard({ result, network, children }: ResultCardProps) {
  const { t } = useLingui()
  const verdict = verdictOf(result)
  const { title, body, tone, icon } = verdictWords[verdict]
  const bad = firstBad(result.checks)
  const why = bad?.reason && proofReasons[bad.reason]
  const said = t(title)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => announce(said), [said, result])
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.scrollIntoView()
  }, [result])
  return (
    <Card>
      <div className="flex items-start gap-4">
        <span
          className={cx(
            'inline-flex size-10 shrink-0 items-center justify-center rounded-full',
            toneClass[tone],
          )}
        >
          <Icon name={icon} size={20} />
        </span>
        <div className="min-w-0">
          <h2
            className="scroll-mt-24 text-lg font-semibold"
            data-verdict={verdict}
            ref={heading}
            tabIndex={-1}
          >
            {said}
          </h2>
          <p className="text-sm text-muted">
            {why ? joinMessage({ title: t(why.title), body: t(why.body) }) : t(body)}
          </p>
        </div>
      </div>
      {result.undecided && verdict !== 'invalid' && (
        <Banner action={result.signIn && <SignIn look="secondary" />} className="mt-4" tone="warn">
          {result.undecided}
        </Banner>
      )}
      {result.already && (
        <Banner className="mt-4" tone="warn">
          <Trans>Accepted before. Check your deliveries.</Trans>
        </Banner>
      )}
      {result.checks.length > 0 && (
        <div className="mt-5">
          <CheckList checks={result.checks} />
        </div>
      )}
      {result.transaction && (
        <p className="mt-4 text-sm text-muted">
          <Trans>Transaction</Trans>{' '}
          <Address
            copy
            full
            href={network && explorerLink(network, 'tx', result.transaction)}
            noun="transaction"
            value={result.transaction}
          />
        </p>
      )}
      <div className="mt-4 flex flex-wrap gap-2 empty:hidden">
        {result.paymentId && (
          <Link
            className={buttonClass({})}
            to={pathTo('payment', { params: { paymentId: result.paymentId } })}
          >
            <Trans>Show the payment</Trans>
          </Link>
        )}
        {children}
      </div>
    </Card>
  )
}
