import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { formatDecodeProblem } from '../../payment-intent/fact-values.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { UntrustedLink, UntrustedText } from '../../ui/UntrustedText.tsx'
import { PaymentOptionCard, type PaymentOptionCardProps, usePayable } from './PaymentOptionCard.tsx'
import { JsonTree } from './request/JsonTree.tsx'
import { HeaderList } from './request/ResponseCard.tsx'
import { ResultTitle } from './request/ResultTitle.tsx'
import { RelayLimits } from './request/UnansweredCard.tsx'
import {
  type PaymentChallenge,
  type PaymentOption,
  type Version,
  headerOf,
} from './request/challenge.ts'
import type { ResourceResponse } from './request/send-request.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'

export type ChallengeCardProps = {
  challenge: PaymentChallenge
  answer: ResourceResponse
  /** This browser read it itself. */
  direct: boolean
  busy: boolean
  onPay: (
    paymentOption: PaymentOption,
    payer: Parameters<PaymentOptionCardProps['onPay']>[1] & { version: Version },
  ) => void
}

/** What a 402 asks: the ways to pay it, and what it contains. */
export function ChallengeCard({ challenge, answer, direct, busy, onPay }: ChallengeCardProps) {
  const { t } = useLingui()
  const { offers, unreadable, versions, resource, error } = challenge
  const [version, setVersion] = useState<Version>(versions[0] ?? 2)
  const { payable, others } = usePayable(offers.filter(({ entries }) => version in entries))
  const optionProps = {
    busy,
    onPay: (chosen: PaymentOption, payer: Parameters<PaymentOptionCardProps['onPay']>[1]) =>
      onPay(chosen, { ...payer, version }),
  }
  return (
    <Card
      action={
        <Badge tone="info">
          <span className="figures">402</span>
        </Badge>
      }
      flush
      title={
        <ResultTitle>
          <Trans>Payment required</Trans>
        </ResultTitle>
      }
    >
      <div className="space-y-3 px-5 pb-4">
        {resource && (
          <p className="text-sm">
            {resource.description && (
              <UntrustedText className="block font-medium" text={resource.description} />
            )}
            <UntrustedLink className="text-muted break-all" href={resource.url} />
          </p>
        )}
        {error && error.toLowerCase() !== 'payment required' && (
          <p className="text-sm text-muted">
            <Trans>
              The server says: <UntrustedText text={error} />
            </Trans>
          </p>
        )}
        {versions.length > 1 && (
          <Segmented
            label={t`Version of x402`}
            onChange={(chosen) => setVersion(chosen === '1' ? 1 : 2)}
            options={[
              { value: '2', label: t`x402 version ${{ version: 2 }}` },
              { value: '1', label: t`x402 version ${{ version: 1 }}` },
            ]}
            value={version === 1 ? '1' : '2'}
          />
        )}
        {!direct && (
          <p className="text-sm text-muted">
            <Trans>The relay sees the request and payment.</Trans> <RelayLimits />
          </p>
        )}
      </div>
      {payable.length > 0 ? (
        <ul className="divide-y divide-line border-t border-line">
          {payable.map((option, index) => (
            <PaymentOptionCard
              {...optionProps}
              first={index === 0}
              key={offers.indexOf(option.paymentOption)}
              option={option}
            />
          ))}
        </ul>
      ) : (
        <div className="border-t border-line px-5 py-4">
          <Banner tone="warn">
            <Trans>No supported payment option.</Trans>
          </Banner>
        </div>
      )}
      <div className="border-t border-line px-5 py-4">
        {others.length > 0 && (
          <Disclosure
            className="mb-2"
            open={payable.length === 0}
            label={<Trans>Options not supported here</Trans>}
          >
            <ul className="mt-2 -mx-5 divide-y divide-line">
              {others.map((option) => (
                <PaymentOptionCard
                  {...optionProps}
                  first={false}
                  key={offers.indexOf(option.paymentOption)}
                  option={option}
                />
              ))}
            </ul>
          </Disclosure>
        )}
        <UnreadableList list={unreadable} />
        <Lints answer={answer} challenge={challenge} direct={direct} />
        <Disclosure label={<Trans>Raw response</Trans>}>
          <div className="mt-2 grid gap-3 lg:grid-cols-2">
            {versions.map((each) => (
              <Raw key={each} value={challenge.raw[each]} version={each} />
            ))}
          </div>
        </Disclosure>
        <HeaderList answer={answer} className="mt-2" />
      </div>
    </Card>
  )
}

function UnreadableList({ list }: { list: PaymentChallenge['unreadable'] }) {
  if (list.length === 0) return null
  return (
    <ul className="mb-3 space-y-1 text-sm text-muted">
      {list.map(({ problem, version }, index) => (
        <li className="flex items-start gap-1.5" key={index}>
          <Icon className="mt-0.5 shrink-0" name="info" />
          <span>
            <Trans>
              Unreadable option (version {version}).{' '}
              <UntrustedText text={formatDecodeProblem(problem)} />
            </Trans>
          </span>
        </li>
      ))}
    </ul>
  )
}

function Raw({ version, value }: { version: Version; value: unknown }) {
  const { t } = useLingui()
  const name = t`x402 version ${version}`
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs text-muted">{name}</p>
      <div
        aria-label={name}
        className="max-h-96 overflow-auto rounded-lg bg-sunken px-4 py-3 font-mono text-[13px]"
        role="region"
        tabIndex={0}
      >
        <JsonTree value={value} />
      </div>
    </div>
  )
}

function Lints({
  challenge,
  answer,
  direct,
}: {
  challenge: PaymentChallenge
  answer: ResourceResponse
  direct: boolean
}) {
  const { t } = useLingui()
  const lints = lintChallenge(challenge, answer, direct)
  if (lints.length === 0) return null
  return (
    <Disclosure className="mb-2" label={<Trans>Suggestions for the server</Trans>}>
      <ul className="mt-2 space-y-2 text-sm">
        {lints.map(({ text, fix }) => (
          <li key={fix}>
            <p>{t(text)}</p>
            <code className="block rounded-sm bg-sunken px-2 py-1 font-mono text-[13px] break-all">
              {fix}
            </code>
          </li>
        ))}
      </ul>
    </Disclosure>
  )
}

/** What a seller's 402 could do better, with the line that would do it. */
type Lint = { text: MessageDescriptor; fix: string }

/** Looks at a challenge the way another client would. `direct`: this browser read it across origins. */
export function lintChallenge(
  challenge: PaymentChallenge,
  answer: ResourceResponse,
  direct: boolean,
): Lint[] {
  const lints: Lint[] = []
  const hasV2 = challenge.versions.includes(2)
  if (!hasV2 && !direct)
    lints.push({
      text: msg`Version 2 missing.`,
      fix: 'PAYMENT-REQUIRED: <base64 of {"x402Version": 2, …}>',
    })
  if (!hasV2 && direct && headerOf(answer, 'payment-required') === undefined) {
    lints.push({
      text: msg`Header hidden from browsers.`,
      fix: 'Access-Control-Expose-Headers: PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE',
    })
  }
  // Across origins a page sees this header without being told to.
  const cache = headerOf(answer, 'cache-control') ?? ''
  if (!/no-store/i.test(cache))
    lints.push({
      text: msg`Paid responses may be cached.`,
      fix: 'Cache-Control: no-store',
    })
  if (hasV2 && challenge.resource === null)
    lints.push({
      text: msg`Resource not named.`,
      fix: '"resource": {"url": "https://…"}',
    })
  const many = challenge.offers.filter(({ terms }) => terms.maxTimeoutSeconds < 30).length
  if (many > 0)
    lints.push({
      text: msg`Payment time below 30 seconds.`,
      fix: '"maxTimeoutSeconds": 300',
    })
  return lints
}
