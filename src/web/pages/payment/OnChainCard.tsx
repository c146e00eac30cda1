import { Trans, useLingui } from '@lingui/react/macro'
import type { Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { cx } from '../../ui/button-class.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Table, Td, Th } from '../../ui/Table.tsx'
import {
  type OnChainVerification,
  type VerificationRow,
  useOnChainVerification,
} from './on-chain-verification.ts'

/** The browser asks a node itself and holds its answer against the service's record. No answer is never a match. */
export function OnChainCard({
  payment,
  network,
}: {
  payment: PaymentStatusBody
  network: Network
}) {
  const { t } = useLingui()
  const { data, error, isFetching, refetch, url } = useOnChainVerification(payment, network)
  const host = URL.canParse(url) ? new URL(url).host : url
  return (
    <Card
      action={
        <Button
          busy={isFetching}
          className="-me-2.5"
          icon={<Icon name="refresh" />}
          onClick={() => void refetch()}
          size="sm"
          variant="quiet"
        >
          <Trans>Check again</Trans>
        </Button>
      }
      flush
      subtitle={t`From ${host}.`}
      title={<Trans>On-chain check</Trans>}
    >
      <div className="px-5 pb-4">
        {data ? (
          <Verdict paid={isPaid(payment.status)} verification={data} />
        ) : error ? (
          <Verdict
            verification={{
              kind: 'unavailable',
              body: t`Unexpected answer.`,
            }}
          />
        ) : (
          <Skeleton className="h-12" />
        )}
      </div>
      {data?.kind === 'differs' && <Rows rows={data.rows} />}
      {data?.kind === 'matches' && (
        <Disclosure className="pb-3 [&>summary]:mx-5" label={<Trans>Details</Trans>}>
          <Rows rows={data.rows} />
        </Disclosure>
      )}
    </Card>
  )
}

/** A failure that the chain shows too is no success: it has no green mark. */
function Verdict({
  verification,
  paid = false,
}: {
  verification: OnChainVerification
  paid?: boolean
}) {
  switch (verification.kind) {
    case 'matches':
      return (
        <Banner icon={paid ? 'checkDouble' : undefined} tone={paid ? 'good' : 'neutral'}>
          <Trans>Matches the service’s record.</Trans>
        </Banner>
      )
    case 'differs':
      return (
        <Banner role="alert" title={<Trans>Chain and service disagree</Trans>} tone="bad">
          <Trans>Trust the chain. Do not deliver. Ask the operator.</Trans>
        </Banner>
      )
    case 'contradicted':
      return (
        <Banner role="alert" title={<Trans>Not confirmed on chain</Trans>} tone="bad">
          {verification.body}
        </Banner>
      )
    case 'nothing':
      return <Banner tone="neutral">{verification.body}</Banner>
    case 'unavailable':
      return (
        <Banner title={<Trans>Not available</Trans>} tone="warn">
          {verification.body}
        </Banner>
      )
  }
}

function Rows({ rows }: { rows: readonly VerificationRow[] }) {
  const { t } = useLingui()
  return (
    <Table caption={t`On-chain check`} className="table-fixed max-sm:text-xs">
      <colgroup>
        <col className="w-28 sm:w-36" />
        <col />
        <col />
        <col className="w-24 max-sm:w-12" />
      </colgroup>
      <thead className="border-t border-line">
        <tr>
          <Th>
            <Trans>Field</Trans>
          </Th>
          <Th>
            <Trans>Service</Trans>
          </Th>
          <Th>
            <Trans>Chain</Trans>
          </Th>
          <Th end>
            <span className="max-sm:sr-only">
              <Trans>Same</Trans>
            </span>
          </Th>
        </tr>
      </thead>
      <tbody className="[&>tr:last-child>td]:border-b-0">
        {rows.map(({ name, record, chain, ok }) => (
          <tr className={cx(!ok && 'bg-bad-soft text-bad-ink')} key={name}>
            <Td className="text-muted">{name}</Td>
            <Td className="font-mono text-xs [overflow-wrap:anywhere]">{record}</Td>
            <Td className="font-mono text-xs [overflow-wrap:anywhere]">{chain}</Td>
            <Td end>
              {ok ? (
                <span className="inline-flex text-good-ink">
                  <Icon name="check" />
                  <span className="sr-only">
                    <Trans>Same</Trans>
                  </span>
                </span>
              ) : (
                <Badge icon={<Icon name="cross" size={14} />} tone="bad">
                  <span className="max-sm:sr-only">
                    <Trans>Differs</Trans>
                  </span>
                </Badge>
              )}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
