import { Trans, useLingui } from '@lingui/react/macro'
import type { Match, MatchRow } from '#chains/match.ts'
import { fact as factOf, type MatchFact } from '#contract/facts.ts'
import { FIELD_NAMES, formatMatchFact } from '../../payment-intent/match-facts.ts'
import { useNetwork } from '../../api/use-config.ts'
import { Badge } from '../../ui/Badge.tsx'
import { cx } from '../../ui/button-class.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'

/** Requested beside the transaction, field by field. Equal values are told once, unequal ones both. */
export function MatchTable({ match }: { match: Match }) {
  const { t } = useLingui()
  const wrong = match.rows.filter(({ ok }) => !ok).length
  const count = match.rows.length
  // What differs comes first: it is why nothing is signed.
  const rows = [...match.rows].sort((a, b) => Number(a.ok) - Number(b.ok))
  return (
    <section aria-labelledby="match-heading" className="mt-6">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-semibold" id="match-heading">
          <Trans>What you’re signing</Trans>
        </h3>
        <Badge
          icon={<Icon name={wrong ? 'cross' : 'check'} size={14} />}
          tone={wrong ? 'bad' : 'good'}
        >
          {wrong ? t`${wrong} of ${count} differ` : t`All equal`}
        </Badge>
      </div>
      <p className="mt-0.5 text-sm text-muted">
        <Trans>Compared with your request.</Trans>
      </p>
      <table className="mt-3 w-full text-sm">
        <caption className="sr-only">
          <Trans>Order and transaction</Trans>
        </caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">
              <Trans>Field</Trans>
            </th>
            <th scope="col">
              <Trans>Order and transaction</Trans>
            </th>
            <th scope="col">
              <Trans>Equal</Trans>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-y border-line">
          {rows.map((row) => (
            <tr className={cx(!row.ok && 'bg-bad-soft *:first:ps-3 *:last:pe-3')} key={row.field}>
              <th
                className="w-26 py-2.5 pe-3 text-start align-top font-normal text-muted sm:w-36"
                scope="row"
              >
                {t(FIELD_NAMES[row.field])}
              </th>
              <td className="py-2.5 align-top [overflow-wrap:anywhere]">
                {row.ok ? <Value fact={withoutGas(row.got)} row={row} /> : <Difference row={row} />}
              </td>
              <td className="w-8 py-2.5 ps-2 text-end align-top">
                <span className={cx('inline-flex', row.ok ? 'text-good-ink' : 'text-bad-ink')}>
                  <Icon name={row.ok ? 'check' : 'cross'} />
                  <span className="sr-only">{row.ok ? t`Equal` : t`Differs`}</span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** How much work the chain charges for is said where it differs, and with the fee's own figures. */
function withoutGas(got: MatchFact): MatchFact {
  if (got.code === 'plain_transfer_with') return factOf('plain_transfer')
  return got.code === 'token_transfer_with' ? factOf('one_token_transfer') : got
}

function Difference({ row }: { row: MatchRow }) {
  return (
    <dl className="space-y-1">
      <div>
        <dt className="text-xs text-muted">
          <Trans>Requested</Trans>
        </dt>
        <dd>
          <Value fact={row.expected} row={row} />
        </dd>
      </div>
      <div>
        <dt className="text-xs font-medium text-bad-ink">
          <Trans>In the transaction</Trans>
        </dt>
        <dd className="font-medium">
          <Value fact={row.got} row={row} />
        </dd>
      </div>
    </dl>
  )
}

/** Written so that it can be compared character by character. */
const LITERAL: ReadonlySet<MatchFact['code']> = new Set([
  'address',
  'blockhash',
  'data',
  'text',
  'list',
  'invalid_signatures',
  'missing_signatures',
])

function Value({ row, fact }: { row: MatchRow; fact: MatchFact }) {
  if (fact.code === 'network') return <NetworkName id={fact.params.network} />
  if (row.ok && fact.code === 'nonce') {
    const { nonce } = fact.params
    return <Trans>nonce {nonce} is used</Trans>
  }
  if (row.ok && fact.code === 'until') return <Time at={fact.params.at} look="full" />
  if (row.ok && fact.code === 'blockhash') {
    const text = fact.params.blockhash
    return (
      <Trans>
        with blockhash <span className="font-mono text-[13px] break-all">{text}</span>
      </Trans>
    )
  }
  const literal = LITERAL.has(fact.code) && row.field !== 'instructions'
  return (
    <span className={cx(literal && 'font-mono text-[13px] break-all')}>
      {formatMatchFact(fact)}
    </span>
  )
}

function NetworkName({ id }: { id: string }) {
  const network = useNetwork(id)
  return network ? (
    `${network.name} (${id})`
  ) : (
    <span className="font-mono text-[13px] break-all">{id}</span>
  )
}
